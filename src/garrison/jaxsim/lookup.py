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


def settled(t: Array, *values: Array) -> list[Array]:
    """Return the values as they are, each flag or number from -1 to 254, but computed once and kept.

    The compiler for processors copies a chain of cheap operations into everything that is made from its result, and
    there computes it for each element. To it a division is not cheap: it keeps a quotient. So the values are divided,
    four to a word, by a one that it cannot know to be one, because it does not know that no step has a negative number.
    """
    one = (1 - (t >> 31)).astype(jnp.uint32)
    kept = []
    for first in range(0, len(values), 4):
        four = [jnp.asarray(value) for value in values[first : first + 4]]
        word = jnp.uint32(0)
        for place, value in enumerate(four):
            word = word | (value.astype(jnp.int32) + 1).astype(jnp.uint32) << (8 * place)
        word = lax.div(word, one)
        for place, value in enumerate(four):
            number = (word >> (8 * place) & 0xFF).astype(jnp.int32) - 1
            kept.append(number == 1 if value.dtype == jnp.bool_ else number)
    return kept
