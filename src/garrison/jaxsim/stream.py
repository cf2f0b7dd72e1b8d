"""Random words from the simulator's own generator, xoshiro128++, and what they decide, all in 32 bits.

The words, the comparisons and the products are those of `garrison.cage2.rng`, so one seed gives one episode on either
engine. Where that module compares a float in [0, 1) with a probability, the word itself is compared with the whole
number that this probability stands for: the same outcome for every word.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = Any
"""A JAX array, or what becomes one; whether mypy knows JAX must not decide what passes."""

_HALF = 0xFFFF


class Words(NamedTuple):
    """The state of a generator: four words of 32 bits.

    Four arrays and not one of four: to put numbers into one array the compiler computes all of them for each.
    """

    s0: Array
    s1: Array
    s2: Array
    s3: Array


class Odds(NamedTuple):
    """A probability as whole numbers: a word below `below` happens, or every word if it is certain."""

    below: Array
    certain: Array


def odds(p: Any) -> Odds:
    """Return a probability, or an array of these, as `Odds`.

    Numbers of Python and NumPy are taken in 64 bits and give exactly the odds of the compiled engine; JAX arrays, also
    traced ones, are taken as the 32-bit numbers that they are.
    """
    if isinstance(p, jax.Array):
        p32 = p.astype(jnp.float32)
        return Odds(jnp.where(p32 < 1, jnp.ceil(p32 * 2.0**32), 0).astype(jnp.uint32), p32 >= 1)
    p64 = np.asarray(p, np.float64)
    below = np.where(p64 < 1, np.ceil(p64 * 2.0**32), 0)  # 2^32 itself is possible just below 1
    return Odds(
        jnp.asarray(np.minimum(below, 2**32 - 1).astype(np.uint32)), jnp.asarray((p64 >= 1) | (below == 2.0**32))
    )


def happens(word: Array, chance: Odds) -> Array:
    """Return whether what has this chance happens on `word`."""
    return chance.certain | (word < chance.below)


def next_word(words: Words) -> tuple[Array, Words]:
    """Return 32 random bits and the generator's next state."""
    s0, s1, s2, s3 = words
    word = _rotated(s0 + s3, 7) + s0
    shifted = s1 << 9
    s2 = s2 ^ s0
    s3 = s3 ^ s1
    s1 = s1 ^ s2
    s0 = s0 ^ s3
    s2 = s2 ^ shifted
    return word, Words(s0, s1, s2, _rotated(s3, 11))


def _rotated(x: Array, bits: int) -> Array:
    return (x << bits) | (x >> (32 - bits))


def pick(word: Array, n: Array) -> Array:
    """Return one of 0..n-1, for n below 2^16: the upper half of the product word * n."""
    n = jnp.asarray(n, jnp.uint32)
    return ((((word & _HALF) * n) >> 16) + (word >> 16) * n >> 16).astype(jnp.int32)


def pick_of_many(word: Array, n: Array) -> Array:
    """Return one of 0..n-1, for any n below 2^31."""
    n = jnp.asarray(n, jnp.uint32)
    low, high, n_low, n_high = word & _HALF, word >> 16, n & _HALF, n >> 16
    middle = high * n_low + (low * n_low >> 16)
    return (high * n_high + (middle >> 16) + (low * n_high + (middle & _HALF) >> 16)).astype(jnp.int32)


def nth_bit(mask: Array, n: Array) -> Array:
    """Return the index of the n-th set bit of a mask of at most 16, counted from 0."""
    at = jnp.zeros_like(mask)
    for width in (8, 4, 2, 1):
        below = lax.population_count(mask & ((1 << width) - 1))
        is_above = n >= below
        n = jnp.where(is_above, n - below, n)
        mask = jnp.where(is_above, mask >> width, mask)
        at = jnp.where(is_above, at + width, at)
    return at


def first_bit(mask: Array) -> Array:
    """Return the index of the lowest set bit of `mask`."""
    return lax.population_count((mask & -mask) - 1)


def words_of(stream: Array) -> Words:
    """Return the generator whose state is uint32[4], as `garrison.cage2.rng.seed_streams` gives."""
    stream = jnp.asarray(stream, jnp.uint32)
    return Words(stream[0], stream[1], stream[2], stream[3])


def words_of_key(key: Array) -> Words:
    """Return the generator that a JAX key stands for."""
    return words_of(jax.random.bits(key, (4,), jnp.uint32))
