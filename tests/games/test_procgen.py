"""Procgen's batch: like single games seed by seed, reset by seed or to the next level, saved and continued."""

import gymnasium
import numpy as np
import pytest
import torch

from garrison import vector
from garrison.contract.misuse import Closed, NotReset
from garrison.errors import UserError
from garrison.learn import train
from garrison.learn.config import PolicyConfig, PPOConfig
from garrison.registration import PROCGEN_IDS
from tests.helpers.installed import needs_procgen
from tests.helpers.played import is_same, trace

pytestmark = needs_procgen
BIGFISH = "procgen-bigfish-v0"
STEPS = 150


def batch(num_envs: int, env: str = BIGFISH, backend: str = "native", **settings: object) -> object:
    return vector.make(env, num_envs, backend, autoreset_mode="SameStep", **settings)


@pytest.mark.parametrize("env", PROCGEN_IDS)
def test_a_game_of_the_batch_gives_the_bytes_of_a_single_game_with_its_seed(env: str) -> None:
    native, single = (
        trace(batch(3, env, backend, distribution_mode="easy"), 5, 40) for backend in ("native", "serial")
    )
    assert is_same(native, single)


def test_a_seed_means_what_it_means_to_procgen() -> None:
    envs = batch(2, "procgen-coinrun-v0")
    shown, infos = envs.reset(seed=5)  # type: ignore[attr-defined]
    assert infos["level_seed"][0] == 1228472244  # ProcgenGym3Env(num=1, env_name="coinrun", rand_seed=5) shows this
    assert infos["level_seed"][1] != infos["level_seed"][0]
    assert not np.array_equal(*shown)
    envs.close()  # type: ignore[attr-defined]


def test_the_infos_of_ended_episodes_and_the_next_levels_are_those_of_single_games() -> None:
    native, single = (trace(batch(3, backend=backend), 7, 400) for backend in ("native", "serial"))
    assert sum(int(step[2].sum()) for step in native[1:]) > 3
    assert not any(step[3].any() for step in native[1:])  # Procgen tells nobody that time is up
    assert is_same(native, single)


def test_bytes_do_not_depend_on_threads_nor_on_the_size_of_the_batch() -> None:
    three, threaded, five = (
        trace_of_first(batch(3, threads=1)),
        trace_of_first(batch(3, threads=3)),
        trace_of_first(batch(5, threads=2)),
    )
    assert is_same(three, threaded)
    assert is_same(three, five)


def trace_of_first(envs: object) -> list[object]:
    """Return what the first three games show, whatever the others are told."""
    shown = [envs.reset(seed=3)[0][:3]]  # type: ignore[attr-defined]
    random = np.random.default_rng(0)
    for _ in range(STEPS):
        actions = np.zeros(envs.num_envs, np.int64)  # type: ignore[attr-defined]
        actions[:3] = random.integers(0, 15, 3)
        shown.append([part[:3] for part in envs.step(actions)[:4]])  # type: ignore[attr-defined]
    envs.close()  # type: ignore[attr-defined]
    return shown


def test_workers_and_auto_give_the_same_bytes_and_auto_takes_the_batch() -> None:
    auto = batch(4, backend="auto")
    assert auto.backend == "native"  # type: ignore[attr-defined]
    native = trace(auto, 2, 60)
    assert is_same(
        [step[:-1] for step in native], [step[:-1] for step in trace(batch(4, backend="shared", workers=2), 2, 60)]
    )


def test_auto_takes_single_games_for_a_mode_that_the_batch_does_not_have() -> None:
    envs = vector.make(BIGFISH, 2, autoreset_mode="NextStep")
    assert envs.backend != "native"
    envs.close()
    with pytest.raises(UserError, match="SAME_STEP"):
        vector.make(BIGFISH, 2, "native", autoreset_mode="NextStep")


def test_a_reset_without_a_seed_goes_on_to_new_levels_of_the_chosen_games_only() -> None:
    envs = batch(3)
    before, infos = envs.reset(seed=1)  # type: ignore[attr-defined]
    mask = np.array([False, True, False])
    after, renewed = envs.reset(options={"reset_mask": mask})  # type: ignore[attr-defined]
    assert [np.array_equal(before[i], after[i]) for i in range(3)] == [True, False, True]
    assert renewed["level_seed"][1] != infos["level_seed"][1]
    again, _ = envs.reset(seed=1)  # type: ignore[attr-defined]
    assert np.array_equal(again, before)
    envs.close()  # type: ignore[attr-defined]


def test_a_saved_state_continues_bit_by_bit() -> None:
    envs, other = batch(2), batch(2)
    envs.reset(seed=4)  # type: ignore[attr-defined]
    other.reset(seed=9)  # type: ignore[attr-defined]
    for _ in range(30):
        envs.step(np.array([7, 1]))  # type: ignore[attr-defined]
    other.set_state(envs.get_state())  # type: ignore[attr-defined]
    for t in range(STEPS):
        actions = np.array([t % 15, (3 * t) % 15])
        assert is_same(envs.step(actions), other.step(actions))  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="not the state of 2 games"):
        envs.set_state({"states": np.zeros(3, np.uint8), "lengths": np.array([1, 1])})  # type: ignore[attr-defined]
    envs.close()  # type: ignore[attr-defined]
    other.close()  # type: ignore[attr-defined]


def test_levels_are_drawn_from_those_that_are_named() -> None:
    envs = batch(8, num_levels=2, start_level=40, distribution_mode="easy")
    _, infos = envs.reset(seed=0)  # type: ignore[attr-defined]
    assert set(infos["level_seed"].tolist()) == {40, 41}
    envs.close()  # type: ignore[attr-defined]


def test_what_a_single_game_shows_after_its_end_is_the_beginning_of_the_next_level() -> None:
    env = gymnasium.make(BIGFISH)
    env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, truncated, info = env.step(9)
        assert not truncated
    first, begun = env.reset()
    assert begun["level_seed"] != info["level_seed"]
    second, _ = env.reset()
    assert not np.array_equal(first, second)
    env.close()


def test_wrong_calls_are_refused_in_a_sentence() -> None:
    envs = batch(2)
    with pytest.raises(NotReset):
        envs.step(np.zeros(2, np.int64))  # type: ignore[attr-defined]
    envs.reset(seed=0)  # type: ignore[attr-defined]
    for wrong in (np.array([-1, 0]), np.array([15, 0]), np.zeros(3, np.int64), np.zeros(2)):
        with pytest.raises(UserError, match="actions must"):
            envs.step(wrong)  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="seed"):
        envs.reset(seed=2**31)  # type: ignore[attr-defined]
    envs.close()  # type: ignore[attr-defined]
    envs.close()  # type: ignore[attr-defined]
    with pytest.raises(Closed):
        envs.reset()  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="distribution_mode"):
        batch(1, distribution_mode="hardest")


def test_pictures_for_people_are_larger_than_those_for_the_policy() -> None:
    env = gymnasium.make(BIGFISH, render_mode="rgb_array")
    shown, _ = env.reset(seed=0)
    assert shown.shape == (64, 64, 3)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (512, 512, 3)
    env.close()


def test_the_picture_after_the_end_is_the_last_one_of_the_level_that_ended() -> None:
    env = gymnasium.make(BIGFISH, render_mode="rgb_array")
    env.reset(seed=0)
    terminated, pictures = False, [env.render()]
    while not terminated:
        _, _, terminated, _, _ = env.step(9)
        pictures.append(env.render())
    assert np.array_equal(
        pictures[-1], pictures[-2]
    )  # Procgen never draws the end; what it has drawn is the next level
    env.reset()
    assert not np.array_equal(pictures[-1], env.render())
    env.close()


def test_a_training_is_resumed_bit_for_bit() -> None:
    def config(steps: int) -> PPOConfig:
        policy = PolicyConfig(hidden=(8,), trunk="encoder")
        return PPOConfig(
            steps=steps,
            rollout=8,
            epochs=1,
            minibatches=2,
            learning_rate_schedule="constant",
            threads=1,
            policy=policy,
        )

    through, before, after = (batch(2, copy=False) for _ in range(3))
    whole = train(config(64), through)  # type: ignore[arg-type]
    half = train(config(32), before)  # type: ignore[arg-type]
    rest = train(config(64), after, resume=half.state)  # type: ignore[arg-type]
    assert torch.equal(whole.policy.flat, rest.policy.flat)
    assert not torch.equal(whole.policy.flat, half.policy.flat)
