"""Real games on every backend that takes them: what a game shows depends on its seed and actions alone."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from garrison.tasks.registry import EnvConfig, task_of
from tests.helpers.installed import needs_atari, needs_mujoco, needs_procgen
from tests.helpers.played import is_same, trace

GAMES: dict[str, dict[str, Any]] = {
    "procgen-fruitbot-v0": {},
    "ALE/Breakout-v5": {"max_num_frames_per_episode": 120},
    "Hopper-v5": {},
}
NEEDS = {"procgen-fruitbot-v0": needs_procgen, "ALE/Breakout-v5": needs_atari, "Hopper-v5": needs_mujoco}
BACKENDS = ["threads", "pipes", "shared", "joint", "async"]
ENVS, STEPS, SEED = 3, 45, 6


def played(env: str, backend: str) -> list[Any]:
    config = EnvConfig(env=env, envs=ENVS, env_args=GAMES[env], backend=backend, workers=2)
    return trace(task_of(config).make_envs(ENVS), SEED, STEPS)


@cache
def in_sequence(env: str) -> list[Any]:
    return played(env, "serial")


def results(step: Any) -> list[Any]:
    """Without infos; rewards as numbers, whatever their type."""
    observations, *rest = step[:-1]
    return [observations, *(part.astype(np.float64) for part in rest)]


@pytest.mark.parametrize("env", [pytest.param(env, marks=NEEDS[env]) for env in GAMES])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_gives_what_serial_gives_to_the_byte(env: str, backend: str) -> None:
    expected = in_sequence(env)
    assert sum(int((step[2] | step[3]).sum()) for step in expected[1:]) >= 2
    assert is_same(played(env, backend), expected)


@pytest.mark.parametrize("env", [pytest.param(env, marks=NEEDS[env]) for env in list(GAMES)[:2]])
def test_the_games_own_batch_gives_what_serial_gives(env: str) -> None:
    """Its infos may have a form of their own, but for the observations in which episodes ended."""
    for mine, theirs in zip(played(env, "native"), in_sequence(env), strict=True):
        assert is_same(results(mine), results(theirs))
        for i in np.flatnonzero(theirs[-1].get("_final_obs", False)):
            assert np.array_equal(mine[-1]["final_obs"][i], theirs[-1]["final_obs"][i])
