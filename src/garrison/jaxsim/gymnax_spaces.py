"""Spaces as trainers of the JAX world ask for them: Gymnax's own where it is installed, else these with the same names.

Trainers decide by `isinstance`, so where there is Gymnax its classes must be used; nothing else here needs it.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp

from garrison.cage2.inputs import RED_KINDS
from garrison.cage2.names import NUM_HOSTS
from garrison.jaxsim.stream import Array
from garrison.jaxsim.variant import Variant


class Discrete:
    """Whole numbers 0..n-1."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.shape: tuple[int, ...] = ()
        self.dtype: Any = jnp.int32

    def sample(self, key: Array) -> Array:
        """Draw one."""
        return jax.random.randint(key, self.shape, 0, self.n, self.dtype)

    def contains(self, x: Array) -> Array:
        """Return whether it is one of them."""
        return (x >= 0) & (x < self.n)


class Box:
    """Arrays of floats within bounds."""

    def __init__(self, low: float, high: float, shape: tuple[int, ...], dtype: Any = jnp.float32) -> None:
        self.low, self.high, self.shape, self.dtype = low, high, shape, dtype

    def sample(self, key: Array) -> Array:
        """Draw one."""
        return jax.random.uniform(key, self.shape, self.dtype, self.low, self.high)

    def contains(self, x: Array) -> Array:
        """Return whether it is one of them."""
        return jnp.all((x >= self.low) & (x <= self.high))


class BothSides:
    """Blue's action, and an external attacker's: `{"blue": number, "red": (kind, target)}`."""

    def __init__(self, n: int) -> None:
        self.blue = discrete(n)
        self.n = n
        self.limits = (RED_KINDS, NUM_HOSTS)

    def sample(self, key: Array) -> dict[str, Array]:
        """Draw one."""
        blue, kind, target = jax.random.split(key, 3)
        red = [jax.random.randint(k, (), 0, n) for k, n in zip((kind, target), self.limits, strict=True)]
        return {"blue": self.blue.sample(blue), "red": jnp.stack(red)}

    def contains(self, x: dict[str, Array]) -> Array:
        """Return whether it is one of them."""
        return self.blue.contains(x["blue"]) & jnp.all((x["red"] >= 0) & (x["red"] < jnp.array(self.limits)))


def discrete(n: int) -> Any:
    """Return the space of 0..n-1."""
    return _module().Discrete(n) if find_spec("gymnax") else Discrete(n)


def box(low: float, high: float, shape: tuple[int, ...]) -> Any:
    """Return the space of float32 arrays of this shape."""
    return _module().Box(low, high, shape, jnp.float32) if find_spec("gymnax") else Box(low, high, shape)


def action_space(variant: Variant) -> Any:
    """Return what one environment's action can be."""
    return BothSides(variant.num_actions) if variant.takes_red_actions else discrete(variant.num_actions)


def _module() -> Any:
    return import_module("gymnax.environments.spaces")
