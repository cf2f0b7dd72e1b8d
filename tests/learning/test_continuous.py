"""Continuous actions are learned with the settings that `garrison train --env ID` chooses, nothing tuned by hand."""

from pathlib import Path

import pytest

from garrison.runs import default_preset, train
from tests.helpers.installed import needs_mujoco

pytestmark = pytest.mark.long


def score(env: str, steps: int, out: Path) -> float:
    """Train for this many steps, in this process so that it repeats bit by bit; return the mean of 20 episodes."""
    chosen = default_preset(env).changed(steps=steps, backend="serial", threads=1, seed=1)
    outcome = train(chosen.changed(evaluate_episodes=20, tensorboard=False), out=out, progress=False)
    assert outcome.summary["evaluation"]["episodes"] == 20
    return float(outcome.summary["evaluation"]["mean"])


def test_pendulum_is_swung_up(tmp_path: Path) -> None:
    assert score("Pendulum-v1", 100_000, tmp_path / "run") > -300  # six seeds: -244 to -170; not learned: -1289


@needs_mujoco
def test_an_inverted_pendulum_of_mujoco_is_balanced(tmp_path: Path) -> None:
    assert (
        score("InvertedPendulum-v5", 40_000, tmp_path / "run") > 900
    )  # of 1000, which four seeds had; not learned: 26
