"""What a batch of CAGE-2 promises on its backend, checked against Gymnasium's own vector environment and `native`.

The table of `backend_contract`, for backends that have this environment only. A test file that imports these tests has
a fixture `backend` that names what they are made for.
"""

import pickle
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import garrison.vector
from garrison.errors import UserError
from tests.helpers.vector_samples import assert_same

ID = "garrison/CAGE2-v0"
LENGTHS = (3, 4, 7, 5, 6)
RED = {"bline": 0.4, "meander": 0.6}
MODES = list(AutoresetMode)


def make(backend: str, **kwargs: Any) -> Any:
    return garrison.vector.make(ID, 5, backend, **{"red": RED, "length": LENGTHS, **kwargs})


def play(envs: Any, steps: int = 20, seed: int = 5) -> list[Any]:
    """Reset and step with fixed actions; under DISABLED, reset what has ended. Return everything seen."""
    generator = np.random.default_rng(seed)
    seen = [deepcopy(envs.reset(seed=seed))]
    for _ in range(steps):
        results = envs.step(generator.integers(0, 145, 5))
        seen.append(deepcopy(results))
        ended = results[2] | results[3]
        if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
            seen.append(deepcopy(envs.reset(options={"reset_mask": ended.copy()})))
    return seen


@pytest.mark.parametrize("mode", MODES, ids=[m.value for m in MODES])
def test_every_mode_gives_what_native_gives(backend: str, mode: AutoresetMode) -> None:
    envs = make(backend, autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is envs.autoreset_mode is mode
    assert_same(play(make("native", autoreset_mode=mode)), play(envs))
    assert envs.backend == backend


@pytest.mark.parametrize("mode", MODES, ids=[m.value for m in MODES])
def test_every_mode_gives_what_gymnasium_gives(backend: str, mode: AutoresetMode) -> None:
    each = [partial(gymnasium.make, ID, red=RED, length=length) for length in LENGTHS]
    expected = play(SyncVectorEnv(each, autoreset_mode=mode))
    for theirs, ours in zip(expected, play(make(backend, autoreset_mode=mode)), strict=True):
        assert_same(theirs[:-1], ours[:-1])  # of infos, Gymnasium's have numbers of other types
        assert theirs[-1].keys() == ours[-1].keys()


def test_spaces_and_spec(backend: str) -> None:
    envs, reference = make(backend), make("native")
    assert envs.single_observation_space == reference.single_observation_space
    assert envs.observation_space == reference.observation_space
    assert envs.single_action_space == reference.single_action_space
    assert envs.action_space == reference.action_space
    assert envs.spec.id == ID
    assert envs.num_envs == 5
    assert envs.choice == ""


def test_autoreset_next_step_by_step(backend: str) -> None:
    envs = make(backend, length=[1, 2, 3, 4, 5])
    envs.reset(seed=0)
    ends = [envs.step(np.zeros(5, int))[3].astype(int).tolist() for _ in range(6)]
    # An environment of length n ends at its n-th step and spends the next one on its reset.
    assert ends == [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [1, 1, 0, 0, 1],
        [0, 0, 0, 0, 0],
    ]


def test_seeds(backend: str) -> None:
    def shown(envs: Any, seed: Any) -> list[Any]:
        envs.reset(seed=seed)
        return [envs.step(np.zeros(5, int))[:2] for _ in range(2)] + [envs.get_state()["stream"]]

    envs = make(backend)
    first = shown(envs, 10)
    assert_same(first, shown(envs, [10, 11, 12, 13, 14]))
    partly = shown(envs, [None, 11, None, None, 14])[-1]
    assert (first[-1] == partly).all(axis=1).tolist() == [False, True, False, False, True]
    envs.reset(seed=2**64 - 5)
    for wrong, words in (([1, 2], "one per environment, 5; got 2"), (-1, "seed"), (2**64 - 4, "seed"), ("x", "seed")):
        with pytest.raises(UserError, match=words):
            envs.reset(seed=wrong)


def test_seeds_that_were_given_are_kept(backend: str) -> None:
    envs = make(backend)
    envs.reset()
    assert envs.np_random_seed == (-1,) * 5
    envs.reset(seed=4)
    envs.reset(seed=[None, 9, None, None, None])
    assert envs.np_random_seed == (4, 9, 6, 7, 8)


def test_without_a_seed_streams_go_on_and_batches_differ(backend: str) -> None:
    envs, other = make(backend), make(backend)
    envs.reset(seed=1)
    before = envs.get_state()["stream"]
    envs.reset()
    assert (envs.get_state()["stream"] != before).any(axis=1).all()  # each reset draws an attacker
    envs.reset(seed=1)
    assert_same(envs.get_state()["stream"], before)
    other.reset()
    assert (other.get_state()["stream"] != before).any(axis=1).all()


def test_reset_mask_and_options(backend: str) -> None:
    envs = make(backend)
    with pytest.raises(UserError, match="first reset must reset all"):
        envs.reset(options={"reset_mask": np.arange(5) == 1})
    envs.reset(seed=0)
    envs.step(np.zeros(5, int))
    mask = np.array([False, True, False, False, True])
    options = {"reset_mask": mask}
    shown, _ = envs.reset(options=options)
    assert options.keys() == {"reset_mask"}  # the caller's dict is left alone
    assert envs.get_state()["t"].tolist() == [1, 0, 1, 1, 0]
    assert not shown[mask].any()
    for wrong in (np.zeros(5, bool), np.ones(4, bool), [True] * 5, np.ones(5)):
        with pytest.raises(UserError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})


@pytest.mark.parametrize("render_mode", ["ansi", "rgb_array"])
def test_render(backend: str, render_mode: str) -> None:
    envs, reference = (make(each, render_mode=render_mode) for each in (backend, "native"))
    for each in (envs, reference):
        play(each, 2)
    assert envs.render_mode == render_mode
    assert_same(reference.render(), envs.render())
    assert_same(reference.true_state(3), envs.true_state(3))
    assert make(backend).render() is None


def test_buffers_are_overwritten_only_if_asked_for(backend: str) -> None:
    envs = make(backend, copy=False)
    kept = envs.reset(seed=0)[0]
    results = envs.step(np.zeros(5, int))
    assert results[0] is kept
    rewards = results[1]
    for _ in range(3):
        envs.step(np.full(5, 132))
    assert rewards[4] <= -1.0  # what the Restores cost, later
    envs = make(backend)
    kept = envs.reset(seed=0)[0]
    assert envs.step(np.zeros(5, int))[0] is not kept


def test_what_came_back_stays_as_it_was(backend: str) -> None:
    envs = make(backend)
    reset = envs.reset(seed=0)[0]
    kept = [(reset, deepcopy(reset))]
    for k in range(8):
        results = envs.step(np.full(5, 132 + k))
        kept.append((results, deepcopy(results)))
    for now, then in kept:
        assert_same(now, then)
        assert all(array.flags.writeable for array in (now if isinstance(now, tuple) else (now,))[:4])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=["next", "same"])
def test_extras_arrive_at_their_cadence(backend: str, mode: AutoresetMode) -> None:
    wanted: dict[str, str | int] = {"access": "step", "sessions": 3, "reward_terms": "step", "decoys": 2, "t": 1}
    if mode is AutoresetMode.NEXT_STEP:
        wanted["malware"] = "episode"
    envs, reference = (make(each, autoreset_mode=mode, extras=wanted) for each in (backend, "native"))
    generator = np.random.default_rng(0)
    for each in (envs, reference):
        each.reset(seed=3)
    assert envs.extras["access"].shape == (5, 13)
    for _ in range(15):
        actions = generator.integers(0, 145, 5)
        envs.step(actions)
        reference.step(actions)
        assert_same(reference.extras, envs.extras)


def test_extras_are_off_by_default_and_must_exist(backend: str) -> None:
    assert make(backend).extras == {}
    with pytest.raises(UserError, match="publishes no extra named 'acess'"):
        make(backend, extras=["acess"])
    with pytest.raises(UserError, match=f"SAME_STEP, where the {backend} batch has"):
        make(backend, extras={"access": "episode"}, autoreset_mode="same_step")


def test_the_true_state_is_that_of_native(backend: str) -> None:
    envs, reference = make(backend), make("native")
    for each in (envs, reference):
        play(each, 6)
    for name in reference.truth.__slots__:
        assert_same(getattr(reference.truth, name), getattr(envs.truth, name))
    with pytest.raises(ValueError, match="read-only"):
        envs.truth.access[0, 0] = 1


def test_wrong_actions_are_told_and_harm_nothing(backend: str) -> None:
    envs = make(backend)
    with pytest.raises(UserError, match=r"call reset\(\) before"):
        envs.step(np.zeros(5, int))
    envs.reset(seed=0)
    for wrong, words in (
        (np.zeros(4, int), r"must have the shape \(5,\); got \(4,\)"),
        (np.zeros(5), "must be whole numbers; got float64"),
        (np.array([0, 0, 145, 0, 0]), r"action 145 of environment 2 is out of range: it must lie in 0\.\.144"),
        (np.array([0, -1, 0, 0, 0]), "action -1 of environment 1"),
    ):
        with pytest.raises(UserError, match=words):
            envs.step(wrong)
    assert envs.get_state()["t"].tolist() == [0] * 5
    envs.step([0] * 5)


def test_disabled_autoreset_refuses_to_step_what_has_ended(backend: str) -> None:
    envs = make(backend, autoreset_mode="disabled")
    envs.reset(seed=0)
    for _ in range(3):
        envs.step(np.zeros(5, int))
    with pytest.raises(UserError, match=r"ended in environments \[0\]"):
        envs.step(np.zeros(5, int))
    envs.reset(options={"reset_mask": np.arange(5) == 0})
    assert envs.step(np.zeros(5, int))[3].tolist() == [False, True, False, False, False]


def test_infos_are_empty_unless_there_is_something_to_say(backend: str) -> None:
    envs = make(backend)
    assert envs.reset(seed=0)[1] == {}
    for t in range(1, 4):
        infos = envs.step(np.zeros(5, int))[4]
        assert (infos == {}) == (t < 3)
    assert infos["episode_stats"]["l"].tolist() == [3, 0, 0, 0, 0]
    assert infos["_episode_stats"].tolist() == [True, False, False, False, False]


def test_final_observations_survive_the_next_step(backend: str) -> None:
    envs = make(backend, autoreset_mode="same_step")
    envs.reset(seed=0)
    for _ in range(3):
        observations, *_, infos = envs.step(np.zeros(5, int))
    final = infos["final_obs"][0]
    kept = final.copy()
    assert kept.any()
    assert not observations[0].any()
    play(envs, 5)
    assert_same(kept, final)


def test_action_masks(backend: str) -> None:
    envs, reference = (make(each, action_mask_infos=True) for each in (backend, "native"))
    assert_same(play(reference), play(envs))
    for by_truth in (False, True):
        assert_same(reference.action_masks(by_truth=by_truth), envs.action_masks(by_truth=by_truth))


def test_states_are_kept_and_go_on_anywhere(backend: str) -> None:
    envs, reference = make(backend), make("native")
    play(envs, 6)
    saved, seen = envs.get_state(), play_on(envs)
    envs.set_state(saved)
    assert_same(seen, play_on(envs))
    reference.reset()
    reference.set_state(saved)  # from one engine to the other
    assert_same(seen, play_on(reference))
    saved = reference.get_state([3, 1])
    envs.set_state(saved, [1, 3])
    assert envs.get_state([1, 3])["t"].tolist() == saved["t"].tolist()
    assert_same(envs.observations[[1, 3]], reference.observations[[3, 1]])
    with pytest.raises(UserError, match="another layout"):
        envs.set_state(np.zeros(5))
    with pytest.raises(UserError, match="holds 2 environments, but 3 were to be set"):
        envs.set_state(saved, [0, 1, 2])
    saved["length"] = 2
    saved["t"] = 3
    with pytest.raises(UserError, match="none that a game can reach"):
        envs.set_state(saved, [1, 3])
    play_on(envs)  # still usable


def play_on(envs: Any, steps: int = 9) -> list[Any]:
    generator = np.random.default_rng(7)
    return [deepcopy(envs.step(generator.integers(0, 145, envs.num_envs))) for _ in range(steps)]


def copied(envs: Any) -> Any:
    return deepcopy(envs)


def unpickled(envs: Any) -> Any:
    return pickle.loads(pickle.dumps(envs))


@pytest.mark.parametrize("copy", [copied, unpickled])
def test_copies_go_on_like_the_original_and_share_nothing(backend: str, copy: Callable[[Any], Any]) -> None:
    envs = make(backend, extras={"access": "step", "sessions": 3})
    play(envs, 7)
    twin = copy(envs)
    assert_same(play_on(envs), play_on(twin))
    assert_same(envs.extras, twin.extras)
    assert not np.shares_memory(twin.extras["access"], envs.extras["access"])
    twin.step(np.zeros(5, int))
    assert not np.array_equal(twin.get_state(), envs.get_state())


def test_clones(backend: str) -> None:
    envs, reference = make(backend), make("native")
    twins = []
    for each in (envs, reference):
        play(each, 4)
        twins.append(each.clone([4], repeat=5))
    assert twins[0].num_envs == 5
    assert_same(play_on(twins[1]), play_on(twins[0]))
    assert_same(play_on(reference), play_on(envs))


def test_closing_twice_is_fine_and_later_use_is_an_error(backend: str) -> None:
    envs = make(backend)
    envs.reset(seed=0)
    envs.close()
    envs.close()
    with pytest.raises(UserError, match="closed"):
        envs.reset()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        envs.step(np.zeros(5, int))


def test_wrong_calls_raise_what_gymnasium_raises(backend: str) -> None:
    envs = make(backend)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.zeros(5, int))
    with pytest.raises(TypeError):
        envs.reset(options={"reset_mask": np.ones(5)})


def test_gymnasiums_wrappers_and_stable_baselines(backend: str) -> None:
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(make(backend))
    recorded.reset(seed=1)
    infos = [recorded.step(np.zeros(5, int))[4] for _ in range(3)][-1]
    assert infos["episode"]["l"].tolist() == [3, 0, 0, 0, 0]
    pytest.importorskip("stable_baselines3")
    model_envs = garrison.vector.sb3(make(backend, autoreset_mode="same_step"))
    model_envs.seed(1)
    model_envs.reset()
    said = [model_envs.step(np.zeros(5, int))[3] for _ in range(3)][-1]
    assert said[0]["TimeLimit.truncated"]
    alone = make("native")  # where an episode's last observation stays
    alone.reset(seed=1)
    last = [alone.step(np.zeros(5, int))[0] for _ in range(3)][-1][0]
    assert last.any(), "of a seed at whose third step there is something to see"
    np.testing.assert_array_equal(said[0]["terminal_observation"], last)


def test_options_are_checked_with_the_same_words(backend: str) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"red": "blin"}, "unknown red 'blin'; did you mean 'bline'"),
        ({"red": ["bline"]}, "one name for each of the 5 environments; got 1"),
        ({"red": {"bline": 0.5}}, "sum to 1"),
        ({"length": 0}, "length must lie between 1 and 32767"),
        ({"length": [1, 2]}, "one for each of the 5 environments; got 2"),
        ({"rules": "heads"}, "unknown rules"),
        ({"encoder": "wrapper"}, "unknown encoder"),
        ({"observation": "bit"}, "unknown observation"),
        ({"actions": "few"}, "unknown actions"),
        ({"render_mode": "human"}, "unknown render_mode"),
        ({"autoreset_mode": "nextstep"}, "unknown autoreset_mode"),
        ({"timing": "always"}, "timing must be"),
    ]
    for options, words in cases:
        with pytest.raises(UserError, match=words):
            make(backend, **options)
    with pytest.raises(UserError, match="num_envs"):
        garrison.vector.make(ID, 0, backend)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        make(backend, colour="red")
