"""The environment as the JAX world uses it: Gymnax's methods, inside jit, vmap and scan."""

import doctest
import subprocess
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from garrison.cage2.red_agent import RedAgent, RedView
from garrison.cage2.vector_env import VectorEnv
from garrison.errors import UserError
from garrison.jaxsim import Cage2, State, cage2_env
from tests.helpers.jax_twin import Twin


class Idle(RedAgent):
    def act(self, view: RedView) -> tuple[Any, Any]:
        return 0, 0


def rollout(env: Cage2, seed: int, steps: int) -> Any:
    """Play random actions and return everything that each step gave."""

    def step(state: State, key: Any) -> Any:
        of_action, of_step = jax.random.split(key)
        obs, state, reward, done, info = env.step(of_step, state, env.action_space().sample(of_action))
        return state, (obs, reward, done, info)

    key = jax.random.key(seed)
    _, state = env.reset(key)
    return jax.lax.scan(step, state, jax.random.split(key, steps))


def test_shapes_and_spaces_are_those_of_the_compiled_batch() -> None:
    for settings in ({}, {"observation": "memory", "actions": "compact"}):
        env, batch = Cage2(**settings), VectorEnv(1, **settings)
        assert env.observation_space().shape == batch.single_observation_space.shape
        assert env.action_space().n == env.num_actions == batch.single_action_space.n
        obs, state = env.reset(jax.random.key(0))
        obs, state, reward, done, info = env.step(jax.random.key(1), state, 3)
        assert obs.shape == env.observation_space().shape
        assert (obs.dtype, reward.dtype, done.dtype) == (jnp.float32, jnp.float32, jnp.bool_)
        assert env.get_avail_actions(state).shape == (env.num_actions,)
        assert set(info) >= {"terminated", "truncated", "final_observation"}
        assert env.observation_space().contains(obs)
    assert Cage2().name == "Cage2"


def test_nothing_is_wider_than_32_bits() -> None:
    env = Cage2(red={"bline": 0.5, "meander": 0.5}, observation="memory")
    _, state = env.reset(jax.random.key(0))
    for leaf in jax.tree.leaves((state, env.default_params)):
        assert leaf.dtype in (jnp.int16, jnp.int32, jnp.uint32, jnp.bool_), leaf.dtype
    jaxpr = str(jax.make_jaxpr(env.step)(jax.random.key(0), state, 5, env.default_params))
    assert "i64" not in jaxpr
    assert "f64" not in jaxpr


def test_a_step_has_no_call_to_the_host() -> None:
    env = Cage2(red=["bline", "meander", "sleep", "external"], observation="memory", actions="compact")
    _, state = env.reset(jax.random.key(0))
    action = {"blue": 5, "red": jnp.array([2, 9])}
    for jaxpr in (
        jax.make_jaxpr(env.step)(jax.random.key(0), state, action, env.default_params),
        jax.make_jaxpr(env.reset)(jax.random.key(0), env.default_params),
        jax.make_jaxpr(env.get_avail_actions)(state, env.default_params),
    ):
        used = primitives(jaxpr.jaxpr)
        assert len(used) > 5
        assert not {name for name in used if "callback" in name or "host" in name or "ffi" in name or "feed" in name}
        assert not {name for name in used if "scatter" in name}, "slow where many environments are stepped"


def primitives(jaxpr: Any) -> set[str]:
    """Return the names of all operations, those of inner programs too."""
    found = set()
    for equation in jaxpr.eqns:
        found.add(equation.primitive.name)
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                found |= primitives(inner)
    return found


def test_a_second_call_compiles_nothing() -> None:
    env = Cage2(length=10)
    program = jax.jit(jax.vmap(env.step, in_axes=(0, 0, 0, None)))
    _, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(jax.random.key(0), 8), env.default_params)
    for t in range(25):
        keys = jax.random.split(jax.random.key(t), 8)
        _, state, *_ = program(keys, state, jnp.arange(8) + t, env.default_params)
    assert program._cache_size() == 1


def test_the_key_decides() -> None:
    env = Cage2(red={"bline": 0.5, "meander": 0.5}, length=20)
    program = jax.jit(lambda seed: rollout(env, seed, 100)[1][1])
    first, again, other = program(0), program(0), program(1)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    # With a key, it does not matter which stream the state carries.
    _, state = env.reset(jax.random.key(0))
    moved = state._replace(stream=jax.tree.map(lambda word: word + 1, state.stream))
    results = [env.step(jax.random.key(5), s, 7, env.default_params) for s in (state, moved)]
    jax.tree.map(np.testing.assert_array_equal, *results)


def test_old_and_new_keys_are_taken() -> None:
    env = Cage2()
    new, old = (env.reset(key) for key in (jax.random.key(3), jax.random.PRNGKey(3)))
    jax.tree.map(np.testing.assert_array_equal, new, old)


def test_an_episode_ends_by_truncation_and_the_next_begins() -> None:
    env = Cage2(length=5)
    _, (obs, rewards, done, info) = jax.jit(lambda: rollout(env, 0, 20))()
    assert np.flatnonzero(done).tolist() == [4, 9, 14, 19]
    assert np.array_equal(done, info["truncated"])
    assert not info["terminated"].any()
    assert (info["discount"] == 1).all()
    assert not obs[4].any()
    assert info["final_observation"].any(axis=1)[np.asarray(done)].any()
    totals = rewards.reshape(4, 5).sum(axis=1)
    np.testing.assert_allclose(info["episode_return"][4::5], totals, rtol=1e-6)
    assert np.array_equal(info["episode_length"][4:], [5] * 16)


def test_without_automatic_reset_the_last_state_stays() -> None:
    env = Cage2(length=2)
    params = env.default_params
    obs, state = env.reset_env(jax.random.key(0), params)
    for _ in range(2):
        assert not env.is_terminal(state)
        obs, state, _, done, _ = env.step_env(jax.random.key(1), state, 132, params)
    assert done
    assert env.is_terminal(state)
    assert int(state.t) == 2
    assert float(env.discount(state)) == 1
    assert np.array_equal(env.get_obs(state), obs)


@pytest.mark.parametrize("by_truth", [False, True])
@pytest.mark.parametrize("actions", ["all", "compact"])
def test_masks_are_those_of_the_compiled_batch(actions: str, by_truth: bool) -> None:
    twin = Twin(32, seed=1, red="meander", actions=actions)
    masks = jax.vmap(lambda state: twin.env.get_avail_actions(state, twin.params, by_truth))
    for _ in range(40):
        assert np.array_equal(masks(twin.state), twin.batch.action_masks(by_truth))
        twin.play(1)
    assert not np.asarray(masks(twin.state)).all()


def test_actions_that_do_not_exist_become_the_nearest_that_do() -> None:
    env = Cage2()
    _, state = env.reset(jax.random.key(0))
    for wrong, right in ((-3, 0), (145, 144), (10**6, 144)):
        results = [env.step(jax.random.key(1), state, action) for action in (wrong, right)]
        jax.tree.map(np.testing.assert_array_equal, *results)


def test_actions_of_both_sides_are_sampled() -> None:
    env = Cage2(red="external")
    space = env.action_space()
    action = space.sample(jax.random.key(0))
    assert space.contains(action)
    assert not space.contains({"blue": action["blue"], "red": jnp.array([6, 0])})
    _, state = env.reset(jax.random.key(0))
    _, state, *_ = env.step(jax.random.key(1), state, {"blue": 0, "red": jnp.array([2, 8])})
    assert int(state.red_target) == 8


def test_gymnax_own_spaces_are_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Space:
        def __init__(self, *of: Any) -> None:
            self.of = of

    gymnax, spaces = ModuleType("gymnax"), ModuleType("gymnax.environments.spaces")
    gymnax.__spec__ = ModuleSpec("gymnax", None)
    spaces.Discrete, spaces.Box = type("Discrete", (Space,), {}), type("Box", (Space,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gymnax", gymnax)
    monkeypatch.setitem(sys.modules, "gymnax.environments.spaces", spaces)
    assert isinstance(Cage2().action_space(), Space)
    assert isinstance(Cage2().observation_space(), Space)
    assert Cage2().observation_space().of == (0.0, 1.0, (52,), jnp.float32)


def test_the_example_in_the_docstring_runs() -> None:
    assert doctest.testmod(cage2_env).failed == 0


def test_wrong_settings_are_explained() -> None:
    with pytest.raises(UserError, match="red"):
        Cage2(red="redd")
    with pytest.raises(UserError, match="cannot be compiled"):
        Cage2(red=Idle)
    with pytest.raises(UserError, match="length"):
        Cage2(length=0)


def test_importing_garrison_does_not_import_jax() -> None:
    code = (
        "import sys, garrison, garrison.cage2.vector_env, garrison.vector, garrison.runs; print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_jax_explains_itself() -> None:
    code = (
        "import sys; sys.modules['jax'] = None\n"
        "from garrison.errors import UserError\n"
        "try:\n    import garrison.jaxsim\nexcept UserError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("JAX is not installed: pip install")
    assert "[jax]" in done.stdout
