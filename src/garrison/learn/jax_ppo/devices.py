"""Several agents at once: one program over all of them, on one device or a share of them on each."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from garrison.errors import UserError
from garrison.learn.jax_ppo.update import Pace, Report, Trainer, TrainState

Array = Any

MOST_UPDATES = 64
"""Of one call."""
AGENTS = "agents"


class Program:
    """A trainer's updates, compiled for a number of agents; every array of their state has an axis of them in front."""

    def __init__(self, trainer: Trainer, agents: int, device: str) -> None:
        self.trainer, self.params = trainer, trainer.envs.params
        devices = find_devices(device)
        share = next(n for n in range(min(agents, len(devices)), 0, -1) if agents % n == 0)
        mesh = Mesh(np.array(devices[:share]), (AGENTS,))
        self.devices = share
        self._each, self._all = NamedSharding(mesh, PartitionSpec(AGENTS)), NamedSharding(mesh, PartitionSpec())
        self._mesh = mesh
        self._run: Any = None

    def begin(self, keys: Array, weights: Array, updates: int) -> TrainState:
        """Return the states with new episodes; keys and weights have a row for each agent."""
        keys, weights = (jax.device_put(each, self._each) for each in (keys, weights))
        begin = jax.vmap(self.trainer.begin, in_axes=(0, 0, None, None))
        return jax.jit(begin, out_shardings=self._each)(keys, weights, jnp.int32(updates), self.params)  # type: ignore[no-any-return]

    def place(self, state: TrainState) -> TrainState:
        """Put states in the host's memory onto the devices."""
        return jax.device_put(state, self._each)  # type: ignore[no-any-return]

    def compile(self, state: TrainState) -> None:
        """Compile all of an update for such states; no call compiles again."""
        self._run = self._jitted().lower(*self._arguments(state, np.zeros((2, 0)), 1)).compile()

    def run(self, state: TrainState, rates: Any, count: int) -> tuple[TrainState, Report]:
        """Make `count` updates; `rates` are their learning rates and their weights of the entropy bonus."""
        return self._run(*self._arguments(state, rates, count))  # type: ignore[no-any-return]

    def _arguments(self, state: TrainState, rates: Any, count: int) -> tuple[Any, ...]:
        padded = np.zeros((2, MOST_UPDATES), np.float32)
        padded[:, : np.shape(rates)[1]] = rates
        return state, *jax.device_put((self.params, Pace(*padded), np.int32(count)), self._all)

    def _jitted(self) -> Any:
        run = self._together
        if self.devices > 1:
            each, alike = PartitionSpec(AGENTS), PartitionSpec()
            # By hand, so that nothing is ever exchanged between the devices.
            specs: dict[str, Any] = {"in_specs": (each, alike, alike, alike), "out_specs": (each, each)}
            run = jax.shard_map(run, mesh=self._mesh, check_vma=False, **specs)
        return jax.jit(run)

    def _together(self, state: TrainState, params: Any, pace: Pace, count: Array) -> tuple[TrainState, Report]:
        """Update the agents of one device."""
        if len(state.updates) > 1:
            return jax.vmap(self.trainer.run, in_axes=(0, None, None, None))(state, params, pace, count)  # type: ignore[no-any-return]
        # A single one without the axis: then what is to be done only now and then is done only then.
        single = jax.tree.map(lambda leaf: leaf[0], state)
        return jax.tree.map(lambda leaf: leaf[None], self.trainer.run(single, params, pace, count))  # type: ignore[no-any-return]


def find_devices(name: str) -> list[Any]:
    """Return the devices that a setting names: all of JAX's default kind, all of one kind, or one of them."""
    kind, _, number = name.partition(":")
    try:
        found: list[Any] = jax.devices() if kind == "auto" else jax.devices(kind)
        return [found[int(number)]] if number else found
    except (RuntimeError, IndexError, ValueError):
        present = ", ".join(sorted({device.platform for device in jax.devices()}))
        raise UserError(f"device {name!r} is not available: JAX sees only {present}.") from None
