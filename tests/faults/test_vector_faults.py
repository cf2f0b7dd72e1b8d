"""What happens when things break: every fault is noticed, named and cleaned up; nothing hangs, nothing stays behind."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.errors import UserError
from garrison.vector import EnvTimeout, WorkerDied
from garrison.workers import channel, pool
from tests.helpers.backend_faults import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.backend_faults import FAULT, GO, make
from tests.helpers.faulty_envs import Faulty
from tests.helpers.processes import HANG, children, gone, nothing_hangs_or_stays

PROCESSES = ["pipes", "shared", "async"]


@pytest.fixture(params=["serial", "threads", "joint", *PROCESSES])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=PROCESSES)
def process_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    before = children()
    with nothing_hangs_or_stays():
        yield
        gc.collect()
        assert children() <= before


@pytest.mark.parametrize(("fault", "manner"), [("die", "was killed by SIGKILL"), ("exit", "exit code 7")])
def test_a_dead_worker_is_noticed_while_the_others_still_step(process_backend: str, fault: str, manner: str) -> None:
    makers = [partial(Faulty, {0: "stuck", 2: fault}.get(i, "")) for i in range(4)]
    envs: Any = garrison.vector.make(makers, backend=process_backend, workers=2)
    pids = envs.pids
    envs.reset(seed=0)
    with pytest.raises(WorkerDied, match=rf"worker 1 \(process {pids[1]}, environments 2-3\) .*{manner}"):
        envs.step(FAULT)
    assert gone(pids)
    with pytest.raises(UserError, match="closed because worker 1"):
        envs.step(GO)
    envs.close()


def test_a_worker_that_dies_while_making_is_told(process_backend: str) -> None:
    with pytest.raises(WorkerDied, match=r"ended by itself with exit code 3 while it made"):
        make(process_backend, "die in making")


def test_async_reports_lost_episodes_once_each() -> None:
    envs = make("async", "", on_worker_death="restart", batch_size=2)
    envs.reset(seed=0)
    envs.send(GO[:2], [0, 2])  # 1 and 3 stay idle
    seen = envs.recv()
    assert sorted(seen[5].tolist()) == [0, 2]
    envs.send(GO[:1], [2])
    envs.recv()
    os.kill(envs.pids[0], signal.SIGKILL)
    assert gone(envs.pids[:1])
    envs.send(GO, [0, 1, 2, 3])
    truncated = {}
    for _ in range(2):
        _, _, _, truncations, infos, ids = envs.recv()
        truncated.update(zip(ids.tolist(), truncations.tolist(), strict=True))
        if truncations.any():
            assert infos["worker_restarted"].tolist() == truncations.tolist()
    assert truncated == {0: True, 1: True, 2: False, 3: False}
    envs.step(GO)  # the restarted ones reset
    assert not envs.step(GO)[3].any()
    envs.close()


@pytest.mark.parametrize("fault", ["stuck", "spin"])
def test_a_stuck_environment_runs_into_the_timeout_that_names_it(process_backend: str, fault: str) -> None:
    envs = make(process_backend, fault, timeout=1.0)
    pids = envs.pids
    envs.reset(seed=0)
    envs.step(GO)
    message = rf"environment 2 \(worker 1, process {pids[1]}\) has not returned within 1 s"
    with pytest.raises(EnvTimeout, match=message):
        envs.step(FAULT)
    assert gone(pids)
    envs.close()


def test_async_times_out_though_other_workers_go_on() -> None:
    envs = make("async", "stuck", timeout=1.0, batch_size=1)
    envs.reset(seed=0)
    envs.send(FAULT)

    def play() -> None:
        while True:
            ids = envs.recv()[5]
            envs.send(FAULT[: len(ids)], ids)

    with pytest.raises(EnvTimeout, match="environment 2"):
        play()


def test_many_slow_steps_are_no_timeout() -> None:
    """The timeout is for one environment, not for a worker's whole section."""

    class Slow(Faulty):
        def step(self, action: Any) -> Any:
            time.sleep(0.1)
            return super().step(action)

    envs = garrison.vector.make(Slow, 25, "shared", workers=1, timeout=2.0)
    envs.reset(seed=0)
    assert envs.step(np.zeros(25, int))[0][:, 0].tolist() == [1] * 25  # after 2.5 s
    envs.close()


def test_close_ends_a_stuck_worker(process_backend: str) -> None:
    envs = make(process_backend, "stuck", timeout=1.0, start_method="fork")
    envs.reset()
    if process_backend == "async":
        envs.send(FAULT)
    else:
        with pytest.raises(EnvTimeout):
            envs.step(FAULT)
    pids = envs.pids if process_backend == "async" else []
    envs.close()
    assert gone(pids)


def test_ctrl_c_in_a_step_leaves_a_usable_environment() -> None:
    caller = os.getpid()

    class Interrupting(Faulty):
        def step(self, action: Any) -> Any:
            if action == 1:
                os.kill(caller, signal.SIGINT)
                time.sleep(0.2)
            return super().step(action)

    for backend in PROCESSES:
        envs = garrison.vector.make(Interrupting, 2, backend, workers=2)
        envs.reset(seed=0)
        with pytest.raises(KeyboardInterrupt):
            envs.step(np.array([1, 0]))
        assert envs.reset(seed=0)[0][:, 0].tolist() == [0, 0]
        assert envs.step(GO[:2])[0][:, 0].tolist() == [1, 1]
        envs.close()


@pytest.mark.parametrize("backend", PROCESSES)
def test_ctrl_c_between_a_reply_and_its_note_loses_nothing_but_that_step(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = garrison.vector.make(Faulty, 2, backend, workers=2)
    envs.reset(seed=0)
    receive = channel.receive

    def interrupted(line: Any) -> Any:
        receive(line)
        monkeypatch.setattr(channel, "receive", receive)
        raise KeyboardInterrupt

    monkeypatch.setattr(channel, "receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        envs.step(GO[:2])
    assert envs.reset(seed=0)[0][:, 0].tolist() == [0, 0]
    assert envs.step(GO[:2])[0][:, 0].tolist() == [1, 1]
    envs.close()


@pytest.mark.parametrize("backend", PROCESSES)
def test_ctrl_c_between_two_workers_orders_leaves_a_usable_environment(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = garrison.vector.make(Faulty, 2, backend, workers=2)
    envs.reset(seed=0)
    write, written = pool._write, []

    def interrupted(*message: Any) -> int:
        if written:
            monkeypatch.setattr(pool, "_write", write)
            raise KeyboardInterrupt
        written.append(message)
        return write(*message)

    monkeypatch.setattr(pool, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        envs.step(GO[:2])
    assert envs.reset(seed=0)[0][:, 0].tolist() == [0, 0]
    assert envs.step(GO[:2])[0][:, 0].tolist() == [1, 1]
    envs.close()


SCRIPT = """
import os, signal, sys, time
sys.path[:0] = {paths!r}
import numpy as np
from tests.helpers.faulty_envs import Faulty
import garrison.vector
class Telling(Faulty):
    def step(self, action):
        os.write(1, b"stepping\\n")
        return super().step(action)
if __name__ == "__main__":
    envs = garrison.vector.make(lambda: Telling({fault!r}), 4, {backend!r}, workers=2, start_method={method!r})
    envs.reset(seed=0)
    print(*envs.pids, flush=True)
    {ending}
"""

ENDINGS = {
    "sigkill": "os.kill(os.getpid(), signal.SIGKILL)",
    "sigkill in a step": "[envs.step(np.ones(4, int)) for _ in range(100)]",
    "sigterm": "os.kill(os.getpid(), signal.SIGTERM)",
    "exception": "raise RuntimeError('user code')",
    "forgotten close": "pass",
    "ctrl-c": "os.killpg(os.getpgrp(), signal.SIGINT); time.sleep(600)",  # as a terminal does: workers get it too
    "os._exit": "os._exit(0)",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("backend", "method"),
    [("shared", "fork"), ("shared", "spawn"), ("shared", "forkserver"), ("pipes", "fork"), ("async", "fork")],
)
def test_no_worker_outlives_the_caller(backend: str, method: str, ending: str) -> None:
    fault = "spin" if "step" in ending else ""
    paths = [str(Path(__file__).parents[2]), *sys.path]
    code = SCRIPT.format(paths=paths, fault=fault, backend=backend, method=method, ending=ENDINGS[ending])
    caller = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert caller.stdout is not None
    assert caller.stderr is not None
    line = caller.stdout.readline()
    pids = [int(word) for word in line.split()]
    assert len(pids) == 2, line + caller.stderr.read()
    if "step" in ending:
        assert caller.stdout.readline() == "stepping\n"
        caller.kill()
    caller.wait(timeout=HANG)
    assert gone(pids)
    if ending == "ctrl-c":
        assert caller.stderr.read().count("Traceback") == 1  # the caller's; workers leave it to him
    caller.stdout.close()
    caller.stderr.close()
