"""What happens when things break: every fault is noticed, named and cleaned up; nothing hangs, nothing stays behind."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import garrison.vector
from garrison.errors import UserError
from garrison.vector import EnvFailed, EnvTimeout, WorkerDied
from tests.helpers.faulty_envs import Faulty

EVERY = ["serial", "threads", "pipes", "shared", "async"]
PROCESSES = ["pipes", "shared", "async"]
GO, FAULT = np.zeros(4, int), np.ones(4, int)


@pytest.fixture(autouse=True)
def nothing_may_take_long_or_stay() -> Iterator[None]:
    def too_long(*_: object) -> None:
        raise AssertionError("a fault led to a hang")

    before = children()
    memory = shared_memory()
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(20)
    yield
    signal.alarm(0)
    gc.collect()
    assert children() <= before
    assert shared_memory() <= memory


def children() -> set[int]:
    """Living children of this process that are workers (not Python's own fork server)."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid() and b"forkserver" not in (stat.parent / "cmdline").read_bytes():
                found.add(int(stat.parent.name))
    trackers = {p for p in found if b"resource_tracker" in Path(f"/proc/{p}/cmdline").read_bytes()}
    return found - trackers


def shared_memory() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.")}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, pids))


def make(backend: str, fault: str, at: int = 2, **kwargs: Any) -> Any:
    makers = [partial(Faulty, fault if i == at else "") for i in range(4)]
    return garrison.vector.make(makers, backend=backend, **{"workers": 2, **kwargs})


@pytest.mark.parametrize("backend", EVERY)
def test_an_environment_that_raises_is_named_with_its_traceback(backend: str) -> None:
    envs = make(backend, "raise")
    envs.reset(seed=0)
    envs.step(GO)
    with pytest.raises(EnvFailed, match="environment 2 raised ValueError in step\\(\\): the dragon woke up") as caught:
        envs.step(FAULT)
    assert caught.value.index == 2
    text = caught.value.details or "".join(__import__("traceback").format_exception(caught.value))
    assert 'raise ValueError("the dragon woke up")' in text
    assert "_misbehave" in text
    observations, _ = envs.reset(seed=0)  # and it can go on
    assert observations[:, 0].tolist() == [0, 0, 0, 0]
    assert envs.step(GO)[0][:, 0].tolist() == [1, 1, 1, 1]
    envs.close()


@pytest.mark.parametrize("backend", EVERY)
def test_raising_in_reset_and_in_making(backend: str) -> None:
    envs = make(backend, "raise in reset")
    envs.reset(seed=0)
    with pytest.raises(EnvFailed, match="environment 2 raised RuntimeError in reset\\(\\): reset is broken"):
        envs.reset(options={"now": True})
    envs.close()
    with pytest.raises((EnvFailed, RuntimeError), match="no such scenario"):
        make(backend, "raise in making")


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong shape", r"environment 2 in step\(\): the observation has shape \(3,\), but its space has \(2,\)"),
        ("wrong type", "environment 2 in step\\(\\): the observation has type complex64, but its space has float32"),
        ("four values", "environment 2 returned a tuple of 4 from step\\(\\); expected"),
    ],
)
def test_results_that_do_not_fit_are_told(backend: str, fault: str, message: str) -> None:
    envs = make(backend, fault)
    envs.reset(seed=0)
    with pytest.raises(EnvFailed, match=message):
        envs.step(FAULT)
    envs.close()


@pytest.mark.parametrize("backend", PROCESSES)
@pytest.mark.parametrize(("fault", "manner"), [("die", "was killed by SIGKILL"), ("exit", "exit code 7")])
def test_a_dead_worker_is_noticed_at_once(backend: str, fault: str, manner: str) -> None:
    envs = make(backend, fault)
    pids = envs.pids
    envs.reset(seed=0)
    begun = time.monotonic()
    with pytest.raises(WorkerDied, match=rf"worker 1 \(process {pids[1]}, environments 2-3\) .*{manner}"):
        envs.step(FAULT)
    assert time.monotonic() - begun < 1.0
    assert gone(pids)
    with pytest.raises(UserError, match="closed because worker 1"):
        envs.step(GO)
    envs.close()


@pytest.mark.parametrize("backend", PROCESSES)
def test_a_worker_killed_while_idle_is_noticed_at_the_next_step(backend: str) -> None:
    envs = make(backend, "")
    envs.reset(seed=0)
    os.kill(envs.pids[0], signal.SIGKILL)
    assert gone(envs.pids[:1])
    with pytest.raises(WorkerDied, match="environments 0-1"):
        envs.step(GO)


@pytest.mark.parametrize("backend", PROCESSES)
def test_a_worker_that_dies_while_making_is_told(backend: str) -> None:
    with pytest.raises(WorkerDied, match=r"ended by itself with exit code 3 while it made"):
        make(backend, "die in making")


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda m: m.value)
@pytest.mark.parametrize("backend", PROCESSES)
def test_a_dead_worker_is_restarted_with_its_episodes_truncated(backend: str, mode: AutoresetMode) -> None:
    envs = make(backend, "die", on_worker_death="restart", autoreset_mode=mode)
    pids = envs.pids
    envs.reset(seed=0)
    envs.step(GO)
    observations, rewards, terminations, truncations, infos = envs.step(FAULT)
    assert observations[:, 0].tolist() == [2, 2, 0, 0]
    assert rewards.tolist() == [1, 1, 0, 0]
    assert truncations.tolist() == [False, False, True, True]
    assert not terminations.any()
    assert infos["worker_restarted"].tolist() == [False, False, True, True]
    assert envs.pids[0] == pids[0]
    assert envs.pids[1] != pids[1]
    if mode is AutoresetMode.DISABLED:
        envs.reset(options={"reset_mask": truncations.copy()})
        assert envs.step(GO)[0][:, 0].tolist() == [3, 3, 1, 1]
    elif mode is AutoresetMode.NEXT_STEP:
        assert envs.step(GO)[0][:, 0].tolist() == [3, 3, 0, 0]
        observations, _, _, truncations, infos = envs.step(GO)
        assert observations[:, 0].tolist() == [4, 4, 1, 1]
        assert not truncations.any()
        assert infos == {}
    else:
        assert envs.step(GO)[0][:, 0].tolist() == [3, 3, 1, 1]
    envs.close()


@pytest.mark.parametrize("backend", PROCESSES)
def test_restart_after_a_kill_while_idle_and_in_reset(backend: str) -> None:
    envs = make(backend, "", on_worker_death="restart")
    envs.reset(seed=0)
    envs.step(GO)
    for attempt in range(2):
        os.kill(envs.pids[0], signal.SIGKILL)
        assert gone(envs.pids[:1])
        if attempt:
            observations, _ = envs.reset(seed=0)
            assert observations[:, 0].tolist() == [0, 0, 0, 0]
        else:
            _, rewards, _, truncations, _ = envs.step(GO)
            assert rewards.tolist() == [0, 0, 1, 1]
            assert truncations.tolist() == [True, True, False, False]
    assert envs.step(GO)[0][:, 0].tolist() == [1, 1, 1, 1]
    envs.close()


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
@pytest.mark.parametrize("backend", PROCESSES)
def test_a_stuck_environment_runs_into_the_timeout_that_names_it(backend: str, fault: str) -> None:
    envs = make(backend, fault, timeout=0.4)
    pids = envs.pids
    envs.reset(seed=0)
    envs.step(GO)
    begun = time.monotonic()
    message = rf"environment 2 \(worker 1, process {pids[1]}\) has not returned within 0.4 s"
    with pytest.raises(EnvTimeout, match=message):
        envs.step(FAULT)
    assert time.monotonic() - begun < 2.0
    assert gone(pids)
    envs.close()


def test_async_times_out_though_other_workers_go_on() -> None:
    envs = make("async", "stuck", timeout=0.4, batch_size=1)
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
            time.sleep(0.15)
            return super().step(action)

    envs = garrison.vector.make(Slow, 4, "shared", workers=1, timeout=0.3)
    envs.reset(seed=0)
    envs.step(GO)
    envs.close()


@pytest.mark.parametrize("backend", PROCESSES)
def test_close_ends_a_stuck_worker(backend: str) -> None:
    envs = make(backend, "stuck", timeout=0.2, start_method="fork")
    envs.reset()
    if backend == "async":
        envs.send(FAULT)
    else:
        with pytest.raises(EnvTimeout):
            envs.step(FAULT)
    pids = envs.pids if backend == "async" else []
    envs.close()
    assert gone(pids)


@pytest.mark.parametrize("backend", PROCESSES)
def test_a_forgotten_vector_environment_ends_its_workers(backend: str) -> None:
    envs = make(backend, "")
    pids = envs.pids
    envs.reset()
    del envs
    gc.collect()
    assert gone(pids)


def test_ctrl_c_in_a_step_leaves_a_usable_environment() -> None:
    class Slow(Faulty):
        def step(self, action: Any) -> Any:
            time.sleep(0.2)
            return super().step(action)

    for backend in PROCESSES:
        envs = garrison.vector.make(Slow, 2, backend, workers=2)
        envs.reset(seed=0)
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -INT {os.getpid()}"])
        with pytest.raises(KeyboardInterrupt):
            [envs.step(GO[:2]) for _ in range(20)]
        killer.wait()
        assert envs.reset(seed=0)[0][:, 0].tolist() == [0, 0]
        assert envs.step(GO[:2])[0][:, 0].tolist() == [1, 1]
        envs.close()


SCRIPT = """
import os, signal, sys, time
sys.path[:0] = {paths!r}
import numpy as np
from tests.helpers.faulty_envs import Faulty
import garrison.vector
if __name__ == "__main__":
    envs = garrison.vector.make(lambda: Faulty({fault!r}), 4, {backend!r}, workers=2, start_method={method!r})
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
    "ctrl-c": "os.killpg(os.getpgrp(), signal.SIGINT); time.sleep(5)",  # as a terminal does: workers get it too
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
        time.sleep(0.2)
        caller.kill()
    caller.wait(timeout=15)
    assert gone(pids)
    if ending == "ctrl-c":
        assert caller.stderr.read().count("Traceback") == 1  # the caller's; workers leave it to him
    caller.stdout.close()
    caller.stderr.close()
