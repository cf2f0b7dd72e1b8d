"""What a vector environment promises, checked against Gymnasium's own and `serial`.

A test file that imports these tests has a fixture `backend` that names what they are made for.
"""

import pickle
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import garrison.vector
from garrison.errors import UserError
from garrison.vector import EnvFailed
from tests.helpers.vector_samples import SPACES, Sampler, assert_same

BACKENDS = ["serial", "threads", "pipes", "shared", "joint", "async"]
LENGTHS = (3, 4, 7, 5, 6)
MODES = list(AutoresetMode)


def makers(**kwargs: Any) -> list[Callable[[], Sampler]]:
    return [partial(Sampler, length, **kwargs) for length in LENGTHS]


def make(backend: str, **kwargs: Any) -> Any:
    env_kwargs = {k: kwargs.pop(k) for k in ("observations", "actions", "talkative", "render_mode") if k in kwargs}
    return garrison.vector.make(makers(**env_kwargs), backend=backend, **{"workers": 2, **kwargs})


def play(envs: Any, steps: int = 20, seed: int = 5) -> list[Any]:
    """Reset and step with fixed actions; under DISABLED, reset what has ended. Return everything seen."""
    envs.action_space.seed(seed)
    seen = [deepcopy(envs.reset(seed=seed))]
    for _ in range(steps):
        results = envs.step(envs.action_space.sample())
        seen.append(deepcopy(results))
        ended = results[2] | results[3]
        if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
            seen.append(deepcopy(envs.reset(options={"reset_mask": ended.copy()})))
    return seen


@pytest.mark.parametrize("mode", MODES, ids=[m.value for m in MODES])
def test_every_mode_gives_what_gymnasium_gives(backend: str, mode: AutoresetMode) -> None:
    expected = play(SyncVectorEnv(makers(), autoreset_mode=mode))
    envs = make(backend, autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is mode
    assert_same(expected, play(envs))
    envs.close()


@pytest.mark.parametrize("space", SPACES)
def test_every_space_travels(backend: str, space: str) -> None:
    reference = SyncVectorEnv(makers(observations=space, actions=space))
    envs = make(backend, observations=space, actions=space)
    assert envs.single_observation_space == reference.single_observation_space
    assert envs.observation_space == reference.observation_space
    assert envs.action_space == reference.action_space
    assert_same(play(reference, 9), play(envs, 9))
    envs.close()


def test_autoreset_next_step_by_step(backend: str) -> None:
    envs = garrison.vector.make([partial(Sampler, n) for n in (1, 2, 3)], backend=backend, workers=2)
    actions = np.full(3, 3)
    envs.reset(seed=0)
    ends = []
    rewards = []
    for _ in range(6):
        _, reward, terminations, truncations, _ = envs.step(actions)
        ends.append((terminations | truncations).astype(int).tolist())
        rewards.append(reward.astype(int).tolist())
    # An environment of length n ends at its n-th step and spends the next one, with reward 0, on its reset.
    assert ends == [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert rewards == [[3, 3, 3], [0, 3, 3], [3, 0, 3], [0, 3, 0], [3, 3, 3], [0, 0, 3]]
    envs.close()


def test_seeds(backend: str) -> None:
    envs = make(backend, copy=True)
    first, _ = envs.reset(seed=10)
    again, _ = envs.reset(seed=[10, 11, 12, 13, 14])
    assert_same(first, again)
    partly, _ = envs.reset(seed=[None, 11, None, None, 14])
    assert_same(first[[1, 4]], partly[[1, 4]])
    alone = Sampler(LENGTHS[3])
    assert_same(first[3], alone.reset(seed=13)[0])
    with pytest.raises(UserError, match="one per environment, 5; got 2"):
        envs.reset(seed=[1, 2])
    envs.close()


def test_reset_mask_and_options(backend: str) -> None:
    envs = make(backend, copy=True)
    before, _ = envs.reset(seed=0)
    mask = np.array([False, True, False, False, True])
    options = {"reset_mask": mask, "colour": "red"}
    after, infos = envs.reset(options=options)
    assert options.keys() == {"reset_mask", "colour"}  # the caller's dict is left alone
    assert (np.any(before != after, axis=1) == mask).all()
    assert (infos["_begun"] == mask).all()
    assert envs.get_attr("options") == (None, {"colour": "red"}, None, None, {"colour": "red"})
    for wrong in (np.zeros(5, bool), np.ones(4, bool), [True] * 5, np.ones(5)):
        with pytest.raises(UserError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})
    envs.close()


def test_call_get_set_and_render(backend: str) -> None:
    envs = make(backend, render_mode="rgb_array")
    envs.reset(seed=0)
    assert envs.get_attr("length") == LENGTHS
    assert envs.call("double_length", plus=1) == (7, 9, 15, 11, 13)
    envs.set_attr("length", [9, 8, 7, 6, 5])
    assert envs.get_attr("length") == (9, 8, 7, 6, 5)
    envs.set_attr("length", 4)
    assert envs.get_attr("length") == (4,) * 5
    assert envs.render_mode == "rgb_array"
    envs.step(np.full(5, 2))
    assert len(envs.render()) == 5
    assert envs.render(3).tolist() == np.ones((2, 2, 3)).tolist()
    with pytest.raises(UserError, match="no environment 5"):
        envs.render(5)
    with pytest.raises(UserError, match="one value per environment, 5; got 2"):
        envs.set_attr("length", [1, 2])
    with pytest.raises(EnvFailed, match="environment 0 raised AttributeError"):
        envs.call("no_such_thing")
    envs.step(np.full(5, 2))  # still usable
    envs.close()


def test_buffers_are_overwritten_only_if_asked_for(backend: str) -> None:
    envs = make(backend, copy=False)
    kept = envs.reset(seed=0)[0]
    before = kept.copy()
    results = envs.step(np.full(5, 2))
    assert results[0] is kept
    assert not np.array_equal(before, kept)  # the loud promise: they belong to the vector environment
    rewards = results[1]
    envs.step(np.full(5, 3))
    assert rewards.tolist() == [3.0] * 5
    envs.close()
    envs = make(backend)
    kept = envs.reset(seed=0)[0]
    before = kept.copy()
    envs.step(np.full(5, 2))
    assert_same(before, kept)
    envs.close()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=["next", "same"])
def test_extras_arrive_at_their_cadence(backend: str, mode: AutoresetMode) -> None:
    wanted = {"hidden": "step", "double": 3}
    envs = make(backend, autoreset_mode=mode, extras=wanted)
    finals = make(backend, autoreset_mode=mode, extras={"hidden": "episode"})
    assert envs.extras["hidden"].shape == (5, 4)
    assert envs.extras["double"].dtype == np.float64
    envs.reset(seed=0)
    finals.reset(seed=0)
    t = np.zeros(5, int)
    counted = np.zeros(5, int)
    ended = np.zeros(5, bool)
    last = np.zeros(5, int)
    for _ in range(15):
        results = envs.step(np.full(5, 2))
        finals.step(np.full(5, 2))
        if mode is AutoresetMode.NEXT_STEP:
            t = np.where(ended, 0, t + 1)
            ended = results[2] | results[3]
            last = np.where(ended, t, last)
        else:
            ended = results[2] | results[3]
            last = np.where(ended, t + 1, last)
            t = np.where(ended, 0, t + 1)
        counted = np.where(t % 3 == 0, t, counted)
        assert envs.extras["hidden"][:, 0].tolist() == t.tolist()
        assert envs.extras["double"][:, 0].tolist() == (2.0 * counted).tolist()
        assert finals.extras["hidden"][:, 0].tolist() == last.tolist()
    envs.close()
    finals.close()


def test_extras_are_off_by_default_and_must_exist(backend: str) -> None:
    envs = make(backend)
    assert envs.extras == {}
    envs.close()
    with pytest.raises(UserError, match="publishes no extra named 'hiden'; it has: double, hidden"):
        make(backend, extras=["hiden"])


def test_wrong_actions_are_told_and_harm_nothing(backend: str) -> None:
    envs = make(backend)
    with pytest.raises(UserError, match=r"call reset\(\) before"):
        envs.step(np.zeros(5, int))
    envs.reset(seed=0)
    with pytest.raises(UserError, match=r"must have shape \(5,\); got \(4,\)"):
        envs.step(np.zeros(4, int))
    with pytest.raises(UserError, match="must be of type int64; got float64"):
        envs.step(np.zeros(5))
    envs.step(np.full(5, 2))
    envs.close()


def test_actions_kept_by_an_environment_stay_as_they_were(backend: str) -> None:
    envs = make(backend, actions="box")
    envs.reset(seed=0)
    for k in (1, 2):
        envs.step(np.full((5, 3), k, np.float32))
    assert [[a.tolist() for a in kept] for kept in envs.get_attr("kept")] == [[[1.0] * 3, [2.0] * 3]] * 5
    envs.close()


def test_disabled_autoreset_refuses_to_step_what_has_ended(backend: str) -> None:
    envs = make(backend, autoreset_mode="disabled")
    envs.reset(seed=0)
    for _ in range(3):
        envs.step(np.full(5, 2))
    with pytest.raises(UserError, match=r"environments \[0\] have ended"):
        envs.step(np.full(5, 2))
    envs.close()


def test_infos_are_empty_unless_there_is_something_to_say(backend: str) -> None:
    envs = make(backend, talkative=False)
    assert envs.reset(seed=0)[1] == {}
    for t in range(1, 4):
        infos = envs.step(np.full(5, 2))[4]
        assert (infos == {}) == (t < 3)
    assert infos["episode"]["r"].tolist() == [3.0, 0, 0, 0, 0]
    assert infos["_episode"].tolist() == [True, False, False, False, False]
    envs.close()


class Reuser(Sampler):
    """Returns the same array every time, as quick environments do."""

    shown = np.zeros(3, np.float32)

    def reset(self, **kwargs: Any) -> Any:
        super().reset(**kwargs)
        self.shown = np.zeros(3, np.float32) if self.shown is Reuser.shown else self.shown
        self.shown[:] = 0
        return self.shown, {}

    def step(self, action: Any) -> Any:
        _, *rest = super().step(action)
        self.shown[:] = self.t
        return self.shown, *rest


def test_final_observations_survive_an_environment_that_reuses_its_array(backend: str) -> None:
    envs = garrison.vector.make([partial(Reuser, n) for n in (2, 3)], backend=backend, autoreset_mode="same_step")
    envs.reset(seed=0)
    envs.step(np.full(2, 2))
    observations, *_, infos = envs.step(np.full(2, 2))
    assert observations.tolist() == [[0, 0, 0], [2, 2, 2]]
    assert infos["final_obs"][0].tolist() == [2, 2, 2]
    envs.close()


def test_closing_twice_is_fine_and_later_use_is_an_error(backend: str) -> None:
    envs = make(backend)
    envs.close()
    envs.close()
    with pytest.raises(UserError, match="closed"):
        envs.reset()


def test_gymnasium_ids_wrappers_and_spec(backend: str) -> None:
    envs = garrison.vector.make("CartPole-v1", 3, backend, workers=2, render_mode="rgb_array")
    assert envs.spec is not None
    assert envs.spec.id == "CartPole-v1"
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    recorded.reset(seed=1)
    for _ in range(60):
        infos = recorded.step(np.ones(3, int))[4]
        if "episode" in infos:
            break
    assert infos["episode"]["l"].max() > 5
    reference = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 3)
    assert_same(play(reference, 60), play(envs, 60))
    envs.close()


def test_what_came_back_stays_as_it_was(backend: str) -> None:
    """As with Gymnasium's own: whoever keeps an observation over a step keeps it."""
    envs = make(backend)
    reset = envs.reset(seed=0)[0]
    kept = [(reset, deepcopy(reset))]
    for k in range(8):
        results = envs.step(np.full(5, 2 + k % 3))[:4]
        kept.append((results, deepcopy(results)))
    for now, then in kept:
        assert_same(now, then)
    envs.close()


@pytest.mark.parametrize("mode", MODES, ids=[m.value for m in MODES])
def test_the_autoreset_mode_is_an_attribute(backend: str, mode: AutoresetMode) -> None:
    envs = make(backend, autoreset_mode=mode)
    assert envs.autoreset_mode is mode
    envs.close()


def test_generators_and_seeds_are_those_of_the_environments(backend: str) -> None:
    reference = SyncVectorEnv(makers())
    envs = make(backend)
    for each in (reference, envs):
        each.reset(seed=4)
    assert envs.np_random_seed == reference.np_random_seed == (4, 5, 6, 7, 8)
    assert isinstance(envs.np_random, tuple)
    drawn = [generator.integers(1000) for generator in envs.np_random]
    assert drawn == [generator.integers(1000) for generator in reference.np_random]
    envs.reset(seed=[None, 9, None, None, None])
    assert envs.np_random_seed == (4, 9, 6, 7, 8)
    with pytest.raises(UserError, match="generator of its own"):
        envs.np_random = np.random.default_rng(0)
    envs.close()


def test_one_environment_for_two_is_refused(backend: str) -> None:
    shared = Sampler(3)
    with pytest.raises(UserError, match="environments 0 and 1 returned the same environment"):
        garrison.vector.make([lambda: shared] * 2, backend=backend, workers=1)


def test_wrong_calls_raise_what_gymnasium_raises(backend: str) -> None:
    envs = make(backend)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(5, int))
    envs.reset(seed=0)
    with pytest.raises(TypeError):
        envs.step(0)
    with pytest.raises(TypeError):
        envs.reset(options={"reset_mask": np.ones(5)})
    envs.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        envs.step(np.zeros(5, int))
    with pytest.raises(RuntimeError, match="must be alike"):
        garrison.vector.make([partial(Sampler, 3), partial(Sampler, 3, "image")], backend=backend, workers=1)


def test_copies_are_refused_in_one_sentence(backend: str) -> None:
    envs = make(backend)
    for copy in (deepcopy, pickle.dumps, cloudpickle.dumps):
        with pytest.raises(UserError, match=f"backend '{backend}' cannot be pickled or copied"):
            copy(envs)
    envs.close()


OBJECTS = ["text", "sequence", "graph", "one of", "own", "mixed"]


@pytest.mark.parametrize("space", OBJECTS)
@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED], ids=["same", "disabled"])
def test_objects_travel_in_every_mode(backend: str, space: str, mode: AutoresetMode) -> None:
    reference = SyncVectorEnv(makers(observations=space, actions=space), autoreset_mode=mode)
    envs = make(backend, observations=space, actions=space, autoreset_mode=mode)
    assert_same(play(reference, 9), play(envs, 9))
    envs.close()


def test_objects_that_came_back_stay_as_they_were(backend: str) -> None:
    envs = make(backend, observations="mixed")
    kept = envs.reset(seed=0)[0]
    before = deepcopy(kept)
    for _ in range(3):
        envs.step(np.full(5, 2))
    assert_same(kept, before)
    assert isinstance(kept["text"], tuple)
    envs.close()


class Large(Sampler):
    """Returns 64-bit numbers, one of which a 32-bit observation cannot hold."""

    def reset(self, **kwargs: Any) -> Any:
        super().reset(**kwargs)
        return np.full(3, 1e300 if self.length == 9 else 1.0), {}

    def step(self, action: Any) -> Any:
        _, *rest = super().step(action)
        return np.full(3, 1e300 if self.length == 4 else 1.0), *rest


def test_numbers_that_are_too_large_are_told(backend: str) -> None:
    envs = garrison.vector.make([partial(Large, n) for n in (3, 4)], backend=backend, workers=2)
    assert envs.reset(seed=0)[0].tolist() == [[1.0] * 3] * 2
    with pytest.raises(EnvFailed, match=r"environment 1 in step\(\): .* too large for float32"):
        envs.step(np.full(2, 2))
    envs.close()
    envs = garrison.vector.make([partial(Large, n) for n in (3, 9)], backend=backend, workers=2)
    with pytest.raises(EnvFailed, match=r"environment 1 in reset\(\): .* too large for float32"):
        envs.reset(seed=0)
    envs.close()
