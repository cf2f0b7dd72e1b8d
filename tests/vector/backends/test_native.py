"""The native batch behind `make`, and CAGE-2's single environment on every other backend: the same bytes."""

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import garrison.vector
from garrison.errors import UserError
from tests.helpers.vector_samples import assert_same

OTHERS = ["serial", "threads", "pipes", "shared", "joint", "async"]


def play(envs: Any, steps: int = 25) -> list[Any]:
    generator = np.random.default_rng(0)
    seen = [deepcopy(envs.reset(seed=3))]
    for _ in range(steps):
        seen.append(deepcopy(envs.step(generator.integers(0, 145, envs.num_envs))))
        seen.append({name: array.copy() for name, array in envs.extras.items()})
    return seen


def ends(infos: dict[str, Any], mode: str) -> dict[str, Any]:
    """What infos say of ended episodes, numbers of any type."""
    if not infos:
        return {}
    said = infos if mode == "next_step" else infos["final_info"]
    episode = {key: np.asarray(value, np.float64) for key, value in said["episode_stats"].items()}
    return episode | {key: infos[key] for key in ("final_obs", "_final_obs", "_final_info") if key in infos}


def make(backend: str, **kwargs: Any) -> Any:
    return garrison.vector.make("garrison/CAGE2-v0", 4, backend, red="meander", length=10, **kwargs)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("backend", OTHERS)
def test_every_backend_plays_the_same_cage2(backend: str, mode: str) -> None:
    cadences: dict[str, str | int] = {"access": "step", "sessions": 3, "t": "step"}
    if mode == "next_step":
        cadences["malware"] = "episode"
    expected = make("native", autoreset_mode=mode, extras=cadences)
    envs = make(backend, autoreset_mode=mode, extras=cadences, workers=2)
    a, b = play(expected), play(envs)
    for mine, its in zip(a, b, strict=True):
        if isinstance(mine, dict):
            assert_same(mine, its)
        else:
            assert_same(mine[:-1], its[:-1])
            assert_same(*(ends(infos, mode) for infos in (mine[-1], its[-1])))
    envs.close()
    expected.close()


def test_auto_takes_the_native_batch_and_says_so() -> None:
    envs: Any = make("auto", workers=2)
    assert envs.backend == "native"
    assert "compiled batch" in envs.choice
    assert envs.workers == 2
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.truth.access.shape == (4, 13)  # the batch's own names are at hand
    assert envs.unwrapped is envs.env
    envs.close()


def test_native_buffers_and_copies() -> None:
    envs = make("native", copy=False)
    kept = envs.reset(seed=0)[0]
    assert envs.step(np.zeros(4, int))[0] is kept
    envs = make("native")
    assert not envs.unwrapped.copy  # one copy is enough
    kept = envs.reset(seed=0)[0]
    assert envs.step(np.zeros(4, int))[0] is not kept


def test_native_extras_are_views_of_the_state() -> None:
    envs = make("native", extras=["access"])
    assert np.shares_memory(envs.extras["access"], envs.truth.access)
    with pytest.raises(UserError, match="publishes no extra named 'acess'"):
        make("native", extras=["acess"])
    with pytest.raises(UserError, match="SAME_STEP"):
        make("native", extras={"access": "episode"}, autoreset_mode="same_step")


def test_native_needs_a_batch_with_a_choice_of_autoreset() -> None:
    with pytest.raises(UserError, match="compiled batch"):
        garrison.vector.make("Acrobot-v1", 2, "native")
    with pytest.raises(UserError, match="no choice of autoreset_mode"):
        garrison.vector.make("CartPole-v1", 2, "native")


def copied(envs: Any) -> Any:
    return deepcopy(envs)


def unpickled(envs: Any) -> Any:
    return pickle.loads(pickle.dumps(envs))


@pytest.mark.parametrize("copy", [copied, unpickled])
@pytest.mark.parametrize("timing", [False, True])
def test_extras_of_a_copy_follow_the_copy(copy: Any, timing: bool) -> None:
    envs = make("native", extras={"access": "step", "sessions": 3}, timing=timing)
    play(envs, 7)
    twin = copy(envs)
    generator = np.random.default_rng(1)
    for _ in range(30):
        actions = generator.integers(0, 145, 4)
        assert_same(envs.step(actions), twin.step(actions))
        assert_same(envs.extras, twin.extras)
    assert_same(twin.extras["access"], twin.truth.access)
    assert not np.shares_memory(twin.extras["access"], envs.extras["access"])


def test_native_keeps_the_seeds_that_it_was_given() -> None:
    envs = make("native")
    envs.reset()
    assert envs.np_random_seed == (-1, -1, -1, -1)
    envs.reset(seed=4)
    envs.reset(seed=[None, 9, None, None])
    assert envs.np_random_seed == (4, 9, 6, 7)
    assert envs.autoreset_mode is AutoresetMode.NEXT_STEP
