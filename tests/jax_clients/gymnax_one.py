"""The wrappers of Gymnax 1.x around our environment with six values, made by its registry."""

from importlib.metadata import version

import gymnax
import jax
import jax.numpy as jnp
import numpy as np
from gymnax import wrappers
from gymnax.environments import spaces

from garrison.cage2 import VectorEnv
from garrison.jaxsim import Cage2, SixValues
from tests.jax_clients.reporting import report

LENGTH = 5
gymnax.register("CAGE2-v0", lambda **settings: SixValues(Cage2(**settings)))
env, params = gymnax.make("CAGE2-v0", red="meander", length=LENGTH)
assert isinstance(env.action_space(params), spaces.Discrete)
assert isinstance(env.observation_space(params), spaces.Box)
assert spaces.gymnax_space_to_gym_space(env.action_space(params)) == VectorEnv(1).single_action_space
key = jax.random.key(0)
restore = jnp.int32(132)

logged = wrappers.LogWrapper(wrappers.FlattenObservationWrapper(env))
obs, state = logged.reset(key, params)
for t in range(LENGTH):
    obs, state, _, terminated, truncated, info = logged.step(jax.random.fold_in(key, t), state, restore, params)
    assert bool(truncated) == (t == LENGTH - 1)
    assert not terminated
assert np.isclose(info["returned_episode_returns"], info["episode_return"])
assert info["returned_episode_lengths"] == LENGTH
assert not obs.any()
assert info["final_observation"].any()

timed = wrappers.GymnaxToDmEnvWrapper(env)
moment = timed.reset(key, params)
for t in range(LENGTH):
    moment = timed.step(jax.random.fold_in(key, t), moment, restore, params)
assert moment.discount == 1.0  # nothing terminates
assert moment.final_observation.any()

alone = wrappers.GymnaxToGymWrapper(env, params)
assert alone.observation_space.contains(np.asarray(alone.reset(seed=1)[0]))
assert [alone.step(132)[3].item() for _ in range(LENGTH)] == [False] * (LENGTH - 1) + [True]
many = wrappers.GymnaxToVectorGymWrapper(env, 3, params)
many.reset(seed=1)
assert [bool(many.step(np.full(3, 132))[3].all()) for _ in range(LENGTH)] == [False] * (LENGTH - 1) + [True]

sticky = wrappers.StickyActionWrapper(env, 0.5)
_, state = sticky.reset(key, params)
assert len(sticky.step(key, state, restore, params)) == 6
legacy = wrappers.LegacyStepAPIWrapper(env)
_, state = legacy.reset(key, params)
assert len(legacy.step(key, state, restore, params)) == 5
names = "`LogWrapper`, `FlattenObservationWrapper`, `GymnaxToDmEnvWrapper`, both to Gymnasium, and two more"
report("Gymnax's wrappers", version("gymnax"), f"{names}, around `SixValues`", [], "")
