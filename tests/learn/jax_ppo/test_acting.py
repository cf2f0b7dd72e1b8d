"""A rollout on the device is what acting and stepping one after the other gives."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from garrison.learn.config import PolicyConfig
from garrison.learn.jax_ppo.acting import Ended, begin, collect, last_episodes
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.jax_ppo.device_envs import DeviceEnvs
from garrison.learn.jax_ppo.drawing import assess, forbid
from garrison.learn.jax_ppo.update import shuffled
from garrison.learn.nn.policy import Policy
from tests.helpers.jax_env import JaxBits

T, N = 30, 6


@pytest.fixture(scope="module")
def played() -> tuple[Any, ...]:
    env = JaxBits(length=8)
    envs = DeviceEnvs(env, N)
    policy = DensePolicy(10, 8, PolicyConfig(hidden=(16,)))
    flat = Policy(envs.observation_space, envs.action_space, PolicyConfig(hidden=(16,)), seed=1).flat.numpy()
    parameters = policy.split(10 * jnp.asarray(flat))
    first = begin(envs, jax.random.key(0), env.default_params)

    def play(scene: Any) -> Any:
        return collect(envs, policy, parameters, scene, jax.random.key(1), env.default_params, T, masked=True)

    scene, steps = jax.jit(play)(first)
    return policy, parameters, first, scene, steps


def test_every_step_follows_from_the_one_before(played: tuple[Any, ...]) -> None:
    policy, parameters, first, _, steps = played
    assert steps.observations.dtype == jnp.int8
    assert np.array_equal(steps.observations[0], first.observations)
    wanted = (steps.observations[:, :, :3] * 2 ** np.arange(3)).sum(axis=2)
    assert np.array_equal(steps.outcomes.rewards, steps.choices == wanted)
    assert np.take_along_axis(np.asarray(steps.masks), np.asarray(steps.choices)[:, :, None], 2).all()
    assert np.array_equal(steps.masks, np.arange(8) % 2 == wanted[:, :, None] % 2)
    logits, values = policy.logits_and_values(parameters, steps.observations.reshape(T * N, -1).astype(jnp.float32))
    log_probs, _ = assess(forbid(logits, steps.masks.reshape(T * N, -1)), steps.choices.reshape(-1))
    np.testing.assert_allclose(steps.log_probs.reshape(-1), log_probs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(steps.outcomes.values.reshape(-1), values, rtol=1e-5, atol=1e-5)


def test_a_truncated_episode_has_the_value_of_its_last_observation(played: tuple[Any, ...]) -> None:
    policy, parameters, first, scene, steps = played
    cut = np.asarray(steps.outcomes.truncations)
    assert cut.sum() == ((np.asarray(first.envs.time) + T) // 8).sum()
    assert not steps.outcomes.terminations.any()
    after = np.concatenate([steps.observations[1:], scene.observations[None]])
    final = 1 - after[cut]  # what the environment shows at an end is the opposite of what it shows next
    np.testing.assert_allclose(
        np.asarray(steps.outcomes.final_values)[cut],
        policy.values(parameters, final.astype(np.float32)),
        rtol=1e-5,
        atol=1e-5,
    )


def test_returns_and_lengths_are_those_of_the_episodes(played: tuple[Any, ...]) -> None:
    *_, scene, steps = played
    returns, lengths = np.zeros(N), np.zeros(N)
    ended: list[tuple[float, int]] = []
    for t in range(T):
        returns += np.asarray(steps.outcomes.rewards[t])
        lengths += 1
        for i in np.flatnonzero(steps.outcomes.truncations[t]):
            ended.append((returns[i], lengths[i]))
            returns[i] = lengths[i] = 0
    assert np.array_equal(scene.returns, returns)
    assert np.array_equal(scene.lengths, lengths)
    last: Ended = last_episodes(steps)
    assert last.count == len(ended)
    found = list(zip(np.asarray(last.returns), np.asarray(last.lengths), strict=True))[: len(ended)]
    assert found[::-1] == ended


@pytest.mark.parametrize("size", [1, 2, 1000, 4096])
def test_shuffling_gives_every_row_once_and_any_place(size: int) -> None:
    orders = np.array([shuffled(jax.random.key(seed), size) for seed in range(20)])
    assert (np.sort(orders, axis=1) == np.arange(size)).all()
    if size >= 1000:
        share = (orders[:, : size // 4] < size // 2).mean()  # of the first quarter, what comes from the first half
        assert abs(share - 0.5) < 0.05
        assert len({order.tobytes() for order in orders}) == 20
