"""The compiled engine and the JAX engine side by side: the same seeds, the same actions, every value compared."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from garrison.cage2.inputs import parse_red
from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS, NUM_SUBNETS, RedKind
from garrison.cage2.vector_env import VectorEnv
from garrison.jaxsim import Cage2, State

Values = dict[str, NDArray[Any]]

SAME = (
    "t",
    "last_length",
    "sessions",
    "removable",
    "hidden",
    "lead",
    "reported",
    "stale",
    "held",
    "ports",
    "sockets",
    "ot_running",
    "ot_stoppable",
    "ot_active",
    "ot_known",
    "red",
    "red_ports",
    "red_kind",
    "red_target",
    "red_exploit",
    "red_success",
    "red_answered",
    "blue_action",
    "blue_success",
    "activity",
    "active_host",
)
"""Fields that both engines keep in the same form."""
LEFT_OUT = {
    *("placed", "found", "events", "event_ports", "event_shell"),  # inside a step only
    *("length", "source", "done", "reward_terms"),  # a parameter; static; follow from the rest
    *("clock", "own_restores", "own_ports", "own_decoys"),  # t, patched, ports and decoys under other names
    *("order", "next_order", "env_reward", "alignment", "fixes", "compliant", "fixed", "rate"),  # workflows
    *("alignment_total", "last_fixes", "last_compliant", "last_rate", "last_alignment_total", "unused"),
    *("past_events", "event_fresh", "remove_fresh", "restore_fresh", "exploits_seen", "own_action"),  # history
}
"""Fields of `STATE` that the JAX engine does not have."""


def as_fields(state: State) -> Values:
    """Return a batch of states under the names, and in the form, of `garrison.cage2.layout.STATE`."""
    state = jax.tree.map(np.asarray, state)

    def bits(mask: NDArray[Any], count: int = NUM_HOSTS) -> NDArray[Any]:
        return (mask[:, None] >> np.arange(count)) & 1

    oldest_fixed = bits(state.fixed) + bits(state.fixed_privileged)
    fields: Values = {name: getattr(state, name) for name in SAME}
    fields |= {
        "stream": np.stack(state.stream, axis=1),
        "total": state.total / 1000,
        "last_total": state.last_total / 1000,
        "decoys": state.decoys.reshape(len(state.t), NUM_HOSTS, -1),
        "malware": bits(state.malware),
        "patched": bits(state.restored),
        "known_address": bits(state.known_address),
        "known_host": bits(state.known_host),
        "known_subnet": bits(state.known_subnet, NUM_SUBNETS),
        "access": bits(state.held) + bits(state.privileged),
        "oldest_fixed": oldest_fixed,
        "access_oldest": np.where(state.lead > 0, 1, oldest_fixed),
        "belief": bits(state.belief_low) + 2 * bits(state.belief_high),
    }
    if state.bline is not None:
        fields |= {f"bline_{name}": values for name, values in state.bline._asdict().items()}
    for part in (state.meander, state.remembered):
        fields |= part._asdict() if part is not None else {}
    return fields


_PROGRAMS: dict[Any, tuple[Any, Any]] = {}


def _programs(env: Cage2, has_many_params: bool) -> tuple[Any, Any]:
    """Return reset and step of a batch, compiled once for each variant."""
    key = env.variant, has_many_params
    if key not in _PROGRAMS:
        params = 0 if has_many_params else None

        def step(state: State, action: Any, params: Any) -> Any:
            return env.step(None, state, action, params)

        _PROGRAMS[key] = (
            jax.jit(jax.vmap(env.reset_seeded, in_axes=(0, params))),
            jax.jit(jax.vmap(step, in_axes=(0, 0, params))),
        )
    return _PROGRAMS[key]


class Twin:
    """A batch on either engine."""

    def __init__(self, num_envs: int, seed: int = 0, **settings: Any) -> None:
        self.batch = VectorEnv(num_envs, autoreset_mode="SameStep", **settings)
        lengths = settings.pop("length", 100)
        is_list = not isinstance(lengths, int)
        self.env = Cage2(length=lengths[0] if is_list else lengths, **settings)
        self.params = self.env.default_params
        red = settings.get("red", "bline")
        many_reds = isinstance(red, Sequence) and not isinstance(red, str)
        if is_list or many_reds:
            self.params = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_envs, *x.shape)), self.params)
            if many_reds:
                self.params = self.params.replace(red=jnp.array(parse_red(red, num_envs)[0], jnp.int32))
            self.params = self.params.replace(max_steps_in_episode=jnp.broadcast_to(jnp.array(lengths), num_envs))
        self._reset, self._step = _programs(self.env, is_list or many_reds)
        self.rng = np.random.default_rng(seed)
        shown, _ = self.batch.reset(seed=seed)
        obs, self.state = self._reset(Cage2.streams(range(seed, seed + num_envs)), self.params)
        assert np.array_equal(obs, shown)
        self.compare()

    def compare(self) -> None:
        """Raise unless the states are equal, field by field."""
        expected, got = self.batch.get_state(), as_fields(self.state)
        for name, values in got.items():
            differs = (expected[name] != values).reshape(len(expected), -1).any(axis=1)
            if differs.any():
                i = int(np.flatnonzero(differs)[0])
                raise AssertionError(f"{name} of environment {i}: expected {expected[name][i]}, got {values[i]}")

    def step(self, blue: NDArray[Any], red: NDArray[Any] | None = None) -> None:
        """Play one step on both and compare everything that they show and hold."""
        actions: Any = blue if red is None else {"blue": blue, "red": red}
        shown, rewards, _, truncations, infos = self.batch.step(actions)
        obs, self.state, reward, done, info = self._step(
            self.state, jax.tree.map(lambda x: jnp.asarray(x, jnp.int32), actions), self.params
        )
        assert np.array_equal(obs, shown)
        assert np.array_equal(reward, rewards.astype(np.float32))
        assert np.array_equal(done, truncations)
        self.compare()
        if truncations.any():
            final = infos["final_info"]["episode_stats"]
            assert np.array_equal(
                np.asarray(info["final_observation"])[truncations], self.batch.final_observations[truncations]
            )
            assert np.array_equal(
                np.asarray(info["episode_return"])[truncations], final["r"][truncations].astype(np.float32)
            )
            assert np.array_equal(np.asarray(info["episode_length"])[truncations], final["l"][truncations])

    def random_actions(self) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return actions: mostly idle, with decoys stacked on a few hosts, and any other now and then."""
        n, count = self.batch.num_envs, self.env.num_actions
        blue = self.rng.integers(0, count, n)
        kind = self.rng.random(n)
        blue = np.where(kind < 0.4, 0, blue)
        if count == NUM_ACTIONS:
            blue = np.where(kind > 0.85, 119 + self.rng.choice([1, 7, 11, 12], n), blue)
        if not self.env.variant.takes_red_actions:
            return blue, None
        red = np.stack([self.rng.integers(0, RedKind.INVALID, n), self.rng.integers(0, NUM_HOSTS, n)], axis=1)
        wins = self.rng.random(n) < 0.6  # so that sessions pile up, some of them never escalated
        red[wins, 0] = self.rng.choice([RedKind.SCAN, RedKind.EXPLOIT, RedKind.EXPLOIT, RedKind.ESCALATE], wins.sum())
        return blue, red

    def play(self, steps: int) -> "Twin":
        """Play some steps of random actions."""
        for _ in range(steps):
            self.step(*self.random_actions())
        return self
