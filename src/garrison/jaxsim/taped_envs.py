"""A batch of environments that replays recordings: what `garrison.challenge.conformance` asks of a batch, in JAX."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import REDS, Red
from garrison.cage2.reward import RESOLUTION
from garrison.cage2.traces import Trace
from garrison.jaxsim.cage2_env import Cage2
from garrison.jaxsim.draws import TapeStep
from garrison.jaxsim.params import Params
from garrison.jaxsim.red_choice import RedChoice
from garrison.jaxsim.sight import observe
from garrison.jaxsim.state import State
from garrison.jaxsim.stream import Array
from garrison.jaxsim.true_state import true_state
from garrison.jaxsim.turn import has_ended, play
from garrison.jaxsim.variant import Variant


class TapedEnvs:
    """The episodes of a recording, played side by side on their recorded draws.

    Every attacker is compiled in, so that one program plays all recordings of as many episodes.
    """

    def __init__(self, trace: Trace, encoder: str) -> None:
        self._env = Cage2(red=REDS, rules=trace.rules, length=trace.length, encoder=encoder)
        code = Red.EXTERNAL if trace.red == "random" else REDS.index(trace.red)
        self._params = self._env.default_params.replace(red=jnp.int32(code))
        self._tapes = trace.tapes()

    def reset(self, seed: int = 0) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin the episodes; the seed decides nothing."""
        streams = self._env.streams([seed] * len(self._tapes))
        obs, self._state = jax.vmap(self._env.reset_seeded, in_axes=(0, None))(streams, self._params)
        return np.asarray(obs), {}

    def step(self, actions: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play the next step, without a reset at the end."""
        if not isinstance(actions, Mapping):
            actions = {"blue": actions, "red": np.zeros((len(self._tapes), 2))}
        blue, red = (jnp.asarray(actions[side], jnp.int32) for side in ("blue", "red"))
        tapes = self._tapes[:, int(self._state.t[0])]
        tape = TapeStep(*(jnp.asarray(tapes[name], jnp.int32) for name in TapeStep._fields))
        self._state, reward, obs, ended = _step(self._env.variant, self._state, blue, red, tape, self._params)
        return np.asarray(obs), np.asarray(reward) / RESOLUTION, np.zeros_like(ended), np.asarray(ended), {}

    @property
    def truth(self) -> SimpleNamespace:
        """The true state, under the names of `garrison.cage2.Truth`."""
        named = _spell_out(self._state, self._params)
        return SimpleNamespace(**jax.tree.map(np.asarray, named)._asdict())

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return what the attackers keep, under the names of `garrison.cage2.layout.STATE`."""
        bline, meander = self._state.bline, self._state.meander
        assert bline is not None
        assert meander is not None
        kept = {f"bline_{name}": values for name, values in bline._asdict().items()} | meander._asdict()
        return {name: np.asarray(values) for name, values in kept.items()}


def _play_taped(
    variant: Variant, state: State, blue: Array, red: Array, tape: TapeStep, params: Params
) -> tuple[State, Array, Array, Array]:
    def one(state: State, blue: Array, red: Array, tape: TapeStep) -> tuple[State, Array, Array, Array]:
        state, reward = play(variant, state, params, blue, RedChoice(red[0], red[1]), tape)
        return state, reward, observe(state), has_ended(state, params)

    played: tuple[State, Array, Array, Array] = jax.vmap(one)(state, blue, red, tape)
    return played


_step = jax.jit(_play_taped, static_argnums=0)
_spell_out = jax.jit(jax.vmap(true_state, in_axes=(0, None)))
