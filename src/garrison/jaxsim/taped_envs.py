"""A batch of environments that replays recordings: what `garrison.challenge.conformance` asks of a batch, in JAX."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from garrison.cage2.reward import RESOLUTION
from garrison.cage2.traces import Trace
from garrison.jaxsim.cage2_env import Cage2
from garrison.jaxsim.draws import TapeStep
from garrison.jaxsim.red_choice import RedChoice
from garrison.jaxsim.sight import observe
from garrison.jaxsim.state import State
from garrison.jaxsim.stream import Array
from garrison.jaxsim.true_state import true_state
from garrison.jaxsim.turn import has_ended, play
from garrison.jaxsim.variant import Variant


class TapedEnvs:
    """The episodes of a recording, played side by side on their recorded draws."""

    def __init__(self, trace: Trace, encoder: str) -> None:
        red = "external" if trace.red == "random" else trace.red
        self._env = Cage2(red=red, rules=trace.rules, length=trace.length, encoder=encoder)
        self._tapes = trace.tapes()

    def reset(self, seed: int = 0) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin the episodes; the seed decides nothing."""
        streams = self._env.streams([seed] * len(self._tapes))
        obs, self._state = jax.vmap(self._env.reset_seeded, in_axes=(0, None))(streams, self._env.default_params)
        return np.asarray(obs), {}

    def step(self, actions: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play the next step, without a reset at the end."""
        actions = jax.tree.map(lambda values: jnp.asarray(values, jnp.int32), actions)
        t = int(self._state.t[0])
        tape = TapeStep(*(jnp.asarray(self._tapes[name][:, t], jnp.int32) for name in TapeStep._fields))
        self._state, reward, obs, ended = _step(self._env.variant, self._state, actions, tape, self._env.default_params)
        return np.asarray(obs), np.asarray(reward) / RESOLUTION, np.zeros_like(ended), np.asarray(ended), {}

    @property
    def truth(self) -> SimpleNamespace:
        """The true state, under the names of `garrison.cage2.Truth`."""
        named = _spell_out(self._state, self._env.default_params)
        return SimpleNamespace(**jax.tree.map(np.asarray, named)._asdict())

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return what the attackers keep, under the names of `garrison.cage2.layout.STATE`."""
        kept: dict[str, Any] = {}
        if self._state.bline is not None:
            kept |= {f"bline_{name}": values for name, values in self._state.bline._asdict().items()}
        if self._state.meander is not None:
            kept |= self._state.meander._asdict()
        return {name: np.asarray(values) for name, values in kept.items()}


def _play_taped(
    variant: Variant, state: State, actions: Any, tape: TapeStep, params: Any
) -> tuple[State, Array, Array, Array]:
    def one(state: State, action: Any, tape: TapeStep) -> tuple[State, Array, Array, Array]:
        blue, red = (action["blue"], RedChoice(*action["red"])) if variant.takes_red_actions else (action, None)
        state, reward = play(variant, state, params, blue, red, tape)
        return state, reward, observe(state), has_ended(state, params)

    played: tuple[State, Array, Array, Array] = jax.vmap(one)(state, actions, tape)
    return played


_step = jax.jit(_play_taped, static_argnums=0)
_spell_out = jax.jit(jax.vmap(true_state, in_axes=(0, None)))
