"""The batch behind Gymnasium's vector interface: seeds, autoreset, infos, buffers, state, bad input."""

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import garrison
from garrison.cage2 import ACTIONS, Env, VectorEnv
from garrison.cage2.layout import STATE
from garrison.cage2.names import RedKind
from garrison.errors import UserError

MIX = {"bline": 0.4, "meander": 0.4, "sleep": 0.2}


def play(envs: VectorEnv, steps: int, seed: int = 0) -> list[tuple[np.ndarray, ...]]:
    """Step with random actions that depend on the step and the environment only, and keep everything."""
    kept = []
    for t in range(steps):
        actions = np.array([np.random.default_rng((seed, t, i)).integers(145) for i in range(envs.num_envs)])
        obs, rewards, _, truncations, _ = envs.step(actions)
        kept.append((obs.copy(), rewards.copy(), truncations.copy(), envs.get_state()))
    return kept


def equal(a: list[tuple[np.ndarray, ...]], b: list[tuple[np.ndarray, ...]]) -> bool:
    return all(x.tobytes() == y.tobytes() for u, v in zip(a, b, strict=True) for x, y in zip(u, v, strict=True))


def test_make_vec_gives_the_native_batch() -> None:
    envs = gymnasium.make_vec("garrison/CAGE2-v0", num_envs=3, red="meander", rules="leaderboard", length=30)
    assert isinstance(envs.unwrapped, VectorEnv)
    assert envs.observation_space.shape == (3, 52)
    assert envs.single_action_space == gymnasium.spaces.Discrete(145)
    obs, infos = envs.reset(seed=1)
    assert obs in envs.observation_space
    assert infos == {}
    obs, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
    assert obs in envs.observation_space
    assert rewards.dtype == np.float64
    assert not terminations.any()
    assert not truncations.any()
    envs.close()
    envs.close()


def test_the_public_names_are_these() -> None:
    public = ["ACTIONS", "Cycle", "Env", "HOSTS", "Reactions", "RedAgent", "RedView", "RolloutResult", "Truth"]
    assert sorted(garrison.cage2.__all__) == [*public, "VectorEnv", "load_scenario", "parallel_env", "warm_up"]
    for name in garrison.cage2.__all__:
        assert getattr(garrison.cage2, name) is not None


def test_the_action_table_matches_the_numbering() -> None:
    names = [action.name for action in ACTIONS]
    assert len(names) == len(set(names)) == 145
    assert [names[i] for i in (0, 1, 2, 15, 28, 51, 116, 55, 132, 144)] == [
        "Sleep",
        "Monitor",
        "Analyse Defender",
        "Remove Defender",
        "DecoyApache Defender",
        "DecoyFemitter User2",
        "DecoyTomcat User2",
        "DecoyHarakaSMPT Enterprise0",
        "Restore Defender",
        "Restore User4",
    ]


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_batch_behaves_like_gymnasiums_own_vector_of_single_environments(mode: AutoresetMode) -> None:
    lengths = [3, 5, 4]
    names = ["bline", "meander", "sleep"]
    envs = VectorEnv(3, red=names, length=lengths, autoreset_mode=mode)
    peers = gymnasium.vector.SyncVectorEnv(
        [lambda r=r, n=n: Env(red=r, length=n) for r, n in zip(names, lengths, strict=True)], autoreset_mode=mode
    )
    assert envs.metadata["autoreset_mode"] == mode
    obs, infos = envs.reset(seed=[5, 6, 7])
    expected, expected_infos = peers.reset(seed=[5, 6, 7])
    np.testing.assert_array_equal(obs, expected)
    random = np.random.default_rng(0)
    for _ in range(16):
        actions = random.integers(145, size=3)
        got = envs.step(actions)
        wanted = peers.step(actions)
        for a, b in zip(got[:4], wanted[:4], strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        infos, expected_infos = got[4], wanted[4]
        _assert_same_infos(infos, expected_infos)
        if mode == AutoresetMode.DISABLED and got[3].any():
            mask = got[3].copy()
            obs, _ = envs.reset(options={"reset_mask": mask})
            expected, _ = peers.reset(options={"reset_mask": mask})
            np.testing.assert_array_equal(obs, expected)


def _assert_same_infos(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert set(a) == set(b)
    for key in a:
        if isinstance(a[key], dict):
            _assert_same_infos(a[key], b[key])
        elif a[key].dtype == object:
            for x, y in zip(a[key], b[key], strict=True):
                np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_array_equal(a[key], b[key])
            assert a[key].dtype == b[key].dtype, key


def test_infos_carry_return_and_length_at_the_end_only() -> None:
    envs = VectorEnv(2, red="bline", length=[2, 4], autoreset_mode="SameStep")
    envs.reset(seed=0)
    total = np.zeros(2)
    for t in range(4):
        *_, rewards, _, truncations, infos = envs.step(np.array([132, 0]))
        total += rewards
        assert bool(infos) is bool(truncations.any())
        if t == 1:
            assert set(infos) == {"final_obs", "_final_obs", "final_info", "_final_info"}
            final = infos["final_info"]
            assert final["episode_stats"]["r"].tolist() == [total[0], 0]
            assert final["episode_stats"]["l"].tolist() == [2, 0]
            assert final["_episode_stats"].tolist() == [True, False]
            np.testing.assert_array_equal(infos["final_obs"][0], envs.final_observations[0])


def test_one_seed_means_seed_plus_i() -> None:
    envs = VectorEnv(4, red=MIX, length=20)
    envs.reset(seed=10)
    first = play(envs, 30)
    envs.reset(seed=[10, 11, 12, 13])
    assert equal(first, play(envs, 30))
    envs.reset(seed=11)
    assert not equal(first, play(envs, 30))


def test_without_a_seed_the_streams_go_on() -> None:
    envs = VectorEnv(2, red="meander", length=30)
    envs.reset(seed=3)
    first = play(envs, 30)
    envs.reset()
    second = play(envs, 30)
    assert not equal(first, second)
    envs.reset(seed=[3, None])
    third = play(envs, 30)
    assert first[-1][0][0].tobytes() == third[-1][0][0].tobytes()


def test_new_batches_without_a_seed_differ() -> None:
    streams = [VectorEnv(1).get_state()["stream"].tobytes() for _ in range(4)]
    assert len(set(streams)) == 4


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_nothing(threads: int) -> None:
    one, many = (VectorEnv(13, red=MIX, length=20, threads=n) for n in (1, threads))
    one.reset(seed=4)
    many.reset(seed=4)
    assert equal(play(one, 30), play(many, 30))
    many.close()


def test_threads_survive_a_fork() -> None:
    envs = VectorEnv(8, threads=2)
    envs.reset(seed=0)
    envs.step(np.zeros(8, int))
    child = os.fork()
    if child == 0:
        envs.step(np.zeros(8, int))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
def test_a_mixture_is_redrawn_at_each_reset_with_its_odds() -> None:
    envs = VectorEnv(4000, red={"bline": 0.5, "meander": 0.3, "sleep": 0.2})
    for seed in (0, None):
        envs.reset(seed=seed)
        shares = np.bincount(envs.truth.red, minlength=3) / 4000
        np.testing.assert_allclose(shares, [0.5, 0.3, 0.2], atol=0.03)  # four deviations


def test_buffers_are_reused_unless_a_copy_is_asked_for() -> None:
    for wants_copy in (False, True):
        envs = VectorEnv(2, copy=wants_copy)
        first = envs.reset(seed=0)[0]
        second = envs.step(np.array([0, 0]))[0]
        assert (first is second) is not wants_copy


def test_the_true_state_is_a_read_only_view_that_follows_the_batch() -> None:
    envs = VectorEnv(2, red="bline")
    envs.reset(seed=0)
    sessions = envs.truth.sessions
    before = sessions.sum()
    for _ in range(20):
        envs.step(np.array([0, 0]))
    assert sessions.sum() > before
    with pytest.raises(ValueError, match="read-only"):
        sessions[0, 0] = 1


def test_a_saved_state_goes_on_identically_elsewhere() -> None:
    envs = VectorEnv(5, red=MIX, length=40)
    envs.reset(seed=0)
    play(envs, 17)
    saved = pickle.loads(pickle.dumps(envs.get_state([1, 3])))
    other = VectorEnv(2, red=MIX, length=40)
    other.set_state(saved)
    np.testing.assert_array_equal(other.observations, envs.observations[[1, 3]])
    twin = envs.clone([1, 3])
    assert equal(play(other, 30), play(twin, 30))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), lambda e: e.clone()])
def test_copies_go_on_identically_and_share_nothing(duplicate: Any) -> None:
    envs = VectorEnv(3, red=MIX, length=25, threads=2)
    envs.reset(seed=0)
    play(envs, 10)
    twin = duplicate(envs)
    expected = play(twin, 40)
    state = envs.get_state()
    assert equal(play(envs, 40), expected)
    assert state.tobytes() != twin.get_state().tobytes()
    assert not np.shares_memory(envs.truth.access, twin.truth.access)
    np.testing.assert_array_equal(twin.truth.t, twin.get_state()["t"])


def test_clone_repeats_environments_to_try_every_action() -> None:
    envs = VectorEnv(2, red="bline")
    envs.reset(seed=0)
    trial = envs.clone([1], repeat=145)
    assert trial.action_space.shape == (145,)
    _, rewards, *_ = trial.step(np.arange(145))
    assert (rewards[132:] == -1).all()
    assert envs.truth.t.tolist() == [0, 0]


def test_render_shows_both_tables() -> None:
    envs = VectorEnv(2, render_mode="ansi")
    envs.reset(seed=0)
    text = envs.render()
    assert text is not None
    assert len(text) == 2
    assert "Compromised" in text[0]
    assert "Access" in text[0]
    assert VectorEnv(1).render() is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs must lie between 1"),
        ({"num_envs": 2.5}, r"num_envs must be a whole number; got 2\.5"),
        ({"length": 0}, "length must lie between 1 and 32767; got 0"),
        ({"length": -3}, "length must lie"),
        ({"length": "long"}, "length must be a whole number"),
        ({"length": [3]}, "length as a list needs one for each of the 2"),
        ({"threads": 0}, "threads must lie"),
        ({"red": "b_line"}, "unknown red 'b_line'; did you mean 'bline'"),
        ({"red": ["bline"]}, "red as a list needs one name for each of the 2"),
        ({"red": {"bline": 0.5}}, "must be at least 0 and sum to 1"),
        ({"red": {"bline": 1.5, "sleep": -0.5}}, "must be at least 0 and sum to 1"),
        ({"red": {}}, "must be at least 0 and sum to 1"),
        ({"red": {"external": 1.0}}, "unknown red 'external'"),
        ({"red": 3}, "red must be a name, a list of names or a mixture; got 3"),
        ({"rules": "heads"}, "unknown rules 'heads'; did you mean 'head'"),
        ({"encoder": "wrapper3"}, "did you mean 'wrapper2'"),
        ({"autoreset_mode": "later"}, "unknown autoreset_mode 'later'; choose from 'NextStep'"),
        ({"render_mode": "human"}, "unknown render_mode 'human'"),
        ({"scenario": "nowhere.toml"}, "cannot read the scenario nowhere.toml"),
    ],
)
def test_wrong_settings_name_the_value_and_the_fix(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        VectorEnv(**{"num_envs": 2, **settings})


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros(3, int), r"actions must have the shape \(2,\); got \(3,\)"),
        (np.zeros((2, 1), int), r"must have the shape"),
        (np.zeros(2), r"must be whole numbers; got float64: use \.astype\(int\)"),
        (np.array([True, False]), "must be whole numbers; got bool"),
        (np.array([0, 145]), r"action 145 of environment 1 is out of range: it must lie in 0\.\.144"),
        (np.array([-1, 0]), "action -1 of environment 0"),
        ([0, "a"], "must be whole numbers"),
        ({"blue": [0, 0]}, "must have the shape"),
    ],
)
def test_wrong_actions_change_nothing(actions: Any, message: str) -> None:
    envs = VectorEnv(2, red="bline")
    envs.reset(seed=0)
    before = envs.get_state().tobytes()
    with pytest.raises(UserError, match=message):
        envs.step(actions)
    assert envs.get_state().tobytes() == before
    envs.step(np.array([0, 0], dtype=np.uint8))
    envs.step([0, 0])


@pytest.mark.parametrize(
    ("red", "message"),
    [
        ([[0, 0]], r"red actions must have the shape \(2, 2\)"),
        ([[6, 0], [0, 0]], "kind of red action 6 of environment 0"),
        ([[2, 0], [2, 13]], "target of red action 13 of environment 1"),
    ],
)
def test_wrong_actions_of_an_external_attacker_change_nothing(red: Any, message: str) -> None:
    envs = VectorEnv(2, red="external")
    assert envs.reset(seed=0)[0] in envs.observation_space
    before = envs.get_state().tobytes()
    with pytest.raises(UserError, match=message):
        envs.step({"blue": [0, 0], "red": red})
    with pytest.raises(UserError, match="a dict with the keys 'blue' and 'red'"):
        envs.step([0, 0])
    assert envs.get_state().tobytes() == before
    envs.step({"blue": [0, 0], "red": [[1, 2], [1, 3]]})
    assert envs.truth.red_kind.tolist() == [RedKind.SWEEP, RedKind.INVALID]  # there is no fourth subnet


def test_wrong_seeds_masks_ids_and_states_are_named() -> None:
    envs = VectorEnv(2)
    with pytest.raises(ResetNeeded, match="call reset"):
        envs.step([0, 0])
    with pytest.raises(ResetNeeded, match="first reset must reset all"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    for seed, message in [(-1, "seed must lie"), ([1], "one per environment, 2"), (0.5, "whole number")]:
        with pytest.raises(UserError, match=message):
            envs.reset(seed=seed)  # type: ignore[arg-type]
    for mask in (np.array([True]), [True, False], np.array([1, 0])):
        with pytest.raises(UserError, match="must be a bool array of shape"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(UserError, match="at least one True"):
        envs.reset(options={"reset_mask": np.zeros(2, bool)})
    with pytest.raises(UserError, match=r"env_ids must lie in 0\.\.1"):
        envs.get_state([2])
    with pytest.raises(UserError, match="another layout"):
        envs.set_state(np.zeros(2))
    with pytest.raises(UserError, match="another layout"):
        envs.set_state("state")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="holds 3 environments, but 2"):
        envs.set_state(np.zeros(3, STATE))
    with pytest.raises(UserError, match="external attacker"):
        envs.set_state(VectorEnv(2, red="external").get_state())
    with pytest.raises(UserError, match="repeat must lie"):
        envs.clone(repeat=0)
    envs.step([0, 0])


def test_disabled_autoreset_refuses_to_step_an_ended_episode() -> None:
    envs = VectorEnv(2, length=[1, 3], autoreset_mode="Disabled")
    envs.reset(seed=0)
    _, _, _, truncations, _ = envs.step([0, 0])
    with pytest.raises(ResetNeeded, match=r"environments \[0\]"):
        envs.step([0, 0])
    envs.reset(options={"reset_mask": truncations.copy()})
    envs.step([0, 0])


DIGEST = """
import hashlib, numpy as np
from garrison.cage2 import VectorEnv
digest = hashlib.sha256()
for rules in ("head", "leaderboard"):
    envs = VectorEnv(6, red={"bline": 0.4, "meander": 0.4, "sleep": 0.2}, rules=rules, length=30)
    envs.reset(seed=77)
    random = np.random.default_rng(0)
    for _ in range(70):
        obs, rewards, _, truncations, _ = envs.step(random.integers(0, 145, 6))
        for array in (obs, rewards, truncations, envs.get_state(), envs.action_masks(True)):
            digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_compiled_and_plain_kernels_give_the_same_bytes() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    }
    assert len(digests) == 1
