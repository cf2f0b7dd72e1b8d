"""Actors of IMPALA and workers of A3C that raise, die or hang are replaced; a learner that dies takes them along."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

import pytest

from garrison import vector
from garrison.errors import UserError
from garrison.learn.result import Result
from garrison.vector import EnvFailed
from tests.helpers.bits_env import BitsEnv
from tests.helpers.faulty_actors import TRAINERS, FaultyOnce, train_impala
from tests.helpers.learning import Talking
from tests.helpers.processes import HANG, gone, nothing_hangs_or_stays

pytestmark = pytest.mark.long


class UntilSaid(Talking):
    """Stops at the third update after something was said."""

    heard = 0

    @property
    def stop(self) -> bool:
        return bool(self.said) and len(self.metrics) >= self.heard + 3

    def say(self, text: str) -> None:
        super().say(text)
        self.heard = len(self.metrics)


class Hopeless(BitsEnv):
    def step(self, actions: Any) -> Any:
        raise ValueError("the dragon never sleeps")


class Unreasonable(BitsEnv):
    """Only the learner, which looks at one environment, can make it."""

    def __init__(self, num_envs: int) -> None:
        if num_envs > 1:
            raise UserError("there is no scenario 7: use 2.")
        super().__init__(num_envs)


each_trainer = pytest.mark.parametrize(("train", "name"), TRAINERS.values(), ids=TRAINERS.keys())


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    with nothing_hangs_or_stays():
        yield


@pytest.mark.parametrize(
    ("trainer", "fault", "message", "timeout"),
    [
        ("impala", "raise", "raised ValueError: the dragon woke up", 60.0),
        ("impala", "die", "was killed by SIGKILL", 60.0),
        ("impala", "hang", "has not been heard of for 2 s", 2.0),
        ("a3c", "die", "was killed by SIGKILL", 60.0),
        ("a3c", "hang", "has not been heard of for 2 s", 2.0),
    ],
)
def test_a_broken_actor_is_told_of_and_replaced(
    trainer: str, fault: str, message: str, timeout: float, tmp_path: Path
) -> None:
    train, name = TRAINERS[trainer]
    log = UntilSaid()
    train(partial(FaultyOnce, fault=fault, marker=tmp_path / "done"), log, 10**12, timeout)
    # On a busy machine an actor that is only slow may be taken for stuck, and replaced, as well.
    sentence, *_ = [text for text in log.said if message in text]
    assert sentence.startswith(f"{name} ")
    assert sentence.endswith("another one takes its place")
    assert log.metrics[-1]["train/actors_replaced"] == len(log.said)


def test_when_replacing_does_not_help_the_run_ends_with_the_reason() -> None:
    with pytest.raises(EnvFailed, match=r"5 actors in 60 s .* the dragon never sleeps") as caught:
        train_impala(Hopeless, None)
    assert "in step" in caught.value.details


@each_trainer
def test_bad_input_is_told_at_once(train: Callable[..., Result], name: str) -> None:
    with pytest.raises(UserError, match=r"^there is no scenario 7: use 2\.$"):
        train(Unreasonable, None)


@each_trainer
def test_what_cannot_be_sent_to_a_process_is_told(train: Callable[..., Result], name: str) -> None:
    lock = __import__("threading").Lock()
    with pytest.raises(UserError, match="cannot be sent to another process"):
        train(lambda n: (lock, BitsEnv(n))[1], None)


def test_actors_may_have_workers_of_their_own() -> None:
    log = Talking()
    make = partial(vector.make, "CartPole-v1", backend="shared", workers=2, autoreset_mode="same_step")
    assert train_impala(make, log, 3000).steps >= 3000
    assert len(log.family) >= 6  # two actors, two workers each, and their fork servers if Python uses them
    assert Path(get_temp_dir()).exists()  # which their fork servers used, and did not remove


SCRIPT = """
    import sys
    from functools import partial
    from pathlib import Path
    from garrison.learn import RunLog
    from tests.helpers.faulty_actors import TRAINERS, FaultyOnce
    from tests.helpers.processes import descendants

    class Log(RunLog):
        updates = 0
        def log(self, step, metrics):
            self.updates += 1
            if self.updates > 2 and MARKER.exists():  # one is stuck by now
                print(*descendants(), flush=True)
        def checkpoint(self, state):
            print("saved", flush=True)

    MARKER = Path(sys.argv[2])

    if __name__ == "__main__":
        TRAINERS[sys.argv[1]][0](partial(FaultyOnce, fault="hang", marker=MARKER), Log(), 10**12)
"""


@pytest.mark.parametrize(
    ("trainer", "how"), [("impala", signal.SIGKILL), ("impala", signal.SIGINT), ("a3c", signal.SIGKILL)]
)
def test_the_end_of_the_learner_is_the_end_of_all(trainer: str, how: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    paths = os.pathsep.join((str(Path(__file__).parents[2]), *sys.path))
    learner = subprocess.Popen(
        [sys.executable, str(script), trainer, str(tmp_path / "stuck")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
    )
    assert learner.stdout is not None
    family = {int(pid) for pid in learner.stdout.readline().split()}
    assert len(family) == 2
    if how == signal.SIGINT:
        os.killpg(learner.pid, how)  # as Ctrl-C does: to everybody
    else:
        learner.kill()
    _, errors = learner.communicate(timeout=HANG)
    assert gone(family)
    if how == signal.SIGINT:
        assert errors.count("KeyboardInterrupt") == 1  # of the learner alone
        assert "garrison-" not in errors
