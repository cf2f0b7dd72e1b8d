"""Reading small tables by a number that is only known while the program runs."""

import jax.numpy as jnp
from jax import lax

from garrison.jaxsim.stream import Array


def at(table: Array, index: Array) -> Array:
    """Return the row `index` of a table as int32, the first one for a negative index."""
    return lax.dynamic_index_in_dim(table, jnp.maximum(index, 0), keepdims=False).astype(jnp.int32)


def bit_of(index: Array) -> Array:
    """Return the mask of one host or subnet; 0 for a negative index."""
    return jnp.where(index >= 0, jnp.int32(1) << jnp.maximum(index, 0), 0)
