"""What stands around the environment: Gymnax 1.x's six values, and the time left."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from garrison.jaxsim import Cage2, SixValues, TimeLeft

LENGTH = 4
ENV = Cage2(length=LENGTH)
KEYS = [jax.random.key(k) for k in range(LENGTH + 1)]


def played(env: Any, steps: int = LENGTH) -> list[Any]:
    obs, state = env.reset(KEYS[-1])
    seen = [(obs, state)]
    for key in KEYS[:steps]:
        seen.append(env.step(key, seen[-1][1], 0))
    return seen


def test_six_values_are_the_five_with_the_ends_apart() -> None:
    five, six = played(ENV), played(SixValues(ENV))
    for (*same, done, info), (*also_same, terminated, truncated, other) in zip(five[1:], six[1:], strict=True):
        jax.tree.map(np.testing.assert_array_equal, (same, info), (also_same, other))
        assert not terminated
        assert bool(truncated) == bool(done)
    assert bool(six[-1][4])


def test_six_values_has_the_methods_of_gymnax_one() -> None:
    env, params = SixValues(ENV), ENV.default_params
    _, state = env.reset(KEYS[0])
    for key in KEYS[:LENGTH]:
        obs, state, _, terminated, info = env.step_env(key, state, 0, params)
        assert not terminated
    assert bool(info["truncated"])
    assert bool(env.is_truncated(state, params))
    assert not bool(env.is_terminated(state, params))
    assert not bool(env.is_terminal(state, params))
    assert float(env.discount(state, params)) == 1.0
    np.testing.assert_array_equal(env.observe(KEYS[0], state, 0, params), obs)
    assert env.num_actions == env.action_space(params).n == 145
    assert env.name == "Cage2"


def test_time_left_counts_down_to_zero_and_begins_again() -> None:
    env = TimeLeft(ENV)
    seen = played(env)
    assert [round(float(step[0][-1]), 6) for step in seen] == [0.04, 0.03, 0.02, 0.01, 0.04]
    assert [round(float(step[-1]["final_observation"][-1]), 6) for step in seen[1:]] == [0.03, 0.02, 0.01, 0.0]
    for (obs, *_), (plain, *_) in zip(seen, played(ENV), strict=True):
        np.testing.assert_array_equal(obs[:-1], plain)
    assert env.observation_space().shape == seen[0][0].shape == (53,)
    assert seen[0][0].dtype == jnp.float32
    np.testing.assert_array_equal(env.get_obs(seen[2][1]), seen[2][0])


def test_time_left_follows_the_parameters_and_has_a_limit() -> None:
    env = TimeLeft(ENV)
    for length, shown in ((30, 0.3), (100, 1.0), (1000, 1.0)):
        params = ENV.default_params.replace(max_steps_in_episode=jnp.int32(length))
        assert float(env.reset(KEYS[0], params)[0][-1]) == pytest.approx(shown)
        assert float(env.reset_env(KEYS[0], params)[0][-1]) == pytest.approx(shown)
        assert float(env.reset_seeded(Cage2.streams([1])[0], params)[0][-1]) == pytest.approx(shown)
    state = env.reset(KEYS[0])[1]
    assert float(env.step_env(KEYS[0], state, 0, ENV.default_params)[0][-1]) == pytest.approx(0.03)


def test_wrappers_stack_and_can_be_copied() -> None:
    env = copy.deepcopy(SixValues(TimeLeft(ENV)))  # as rejax does with its settings
    *_, truncated, info = played(env)[-1]
    assert bool(truncated)
    assert float(info["final_observation"][-1]) == 0.0
    assert pickle.loads(pickle.dumps(env)).num_actions == 145
    with pytest.raises(AttributeError):
        _ = env.no_such_method


def test_they_work_under_jit_and_vmap() -> None:
    env = SixValues(TimeLeft(ENV))
    keys = jax.random.split(KEYS[0], 3)
    obs, state = jax.jit(jax.vmap(env.reset, in_axes=(0, None)))(keys, env.default_params)
    step = jax.jit(jax.vmap(env.step, in_axes=(0, 0, 0, None)))
    obs, state, *_ = step(keys, state, jnp.zeros(3, jnp.int32), env.default_params)
    assert obs.shape == (3, 53)
