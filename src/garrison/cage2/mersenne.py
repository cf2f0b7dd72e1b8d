"""Python's random numbers, compiled: the Mersenne Twister of `random`, and what `random` makes of its words.

The generator is MT19937 (Matsumoto and Nishimura 1998), kept in two fields of a record: `generator`, its 624 words,
and `position`, how many of them were used. That is what `random.getstate()` shows. Each function below takes exactly as
many words as its namesake in CPython does, so a record and Python's own generator can take turns.
"""

from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import GENERATOR_WORDS, Record
from garrison.jit import kernel

_WORD = 0xFFFFFFFF
_SHIFT = 397  # how far apart the words are that are mixed
_UPPER, _LOWER = 0x80000000, 0x7FFFFFFF
_MATRIX = 0x9908B0DF


@kernel
def next_word(r: Record) -> int:
    """Advance the generator and return 32 random bits."""
    if r.position >= GENERATOR_WORDS:
        _refill(r)
    y = np.int64(r.generator[r.position])
    r.position += 1
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    y ^= y >> 18
    return int(y)


@kernel
def _refill(r: Record) -> None:
    words = r.generator
    for i in range(GENERATOR_WORDS):
        following = np.int64(words[(i + 1) % GENERATOR_WORDS])
        y = (np.int64(words[i]) & _UPPER) | (following & _LOWER)
        mixed = np.int64(words[(i + _SHIFT) % GENERATOR_WORDS]) ^ (y >> 1)
        words[i] = mixed ^ _MATRIX if y & 1 else mixed
    r.position = 0


@kernel
def below(r: Record, n: int) -> int:
    """Draw one of 0..n-1, as `randrange(n)` and `choice` do: top bits of a word, again until they are below n.

    Even a choice of one takes words: one, and another for each time that the top bit is set.
    """
    bits = 0
    while (n >> bits) != 0:
        bits += 1
    drawn = next_word(r) >> (32 - bits)
    while drawn >= n:
        drawn = next_word(r) >> (32 - bits)
    return drawn


@kernel
def uniform(r: Record) -> float:
    """Draw from [0, 1), as `random()` does, from 53 bits of two words."""
    high = next_word(r) >> 5
    low = next_word(r) >> 6
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)


@kernel
def one_of(r: Record, n: int) -> int:
    """Draw one of 0..n-1, as `choices` does: by a product, where `choice` rejects."""
    return floor(uniform(r) * n)


@kernel
def shuffle(r: Record, items: NDArray[Any]) -> None:
    """Shuffle `items` in place, from the end."""
    for i in range(len(items) - 1, 0, -1):
        j = below(r, i + 1)
        kept = items[i]
        items[i] = items[j]
        items[j] = kept


@kernel
def sample(r: Record, n: int, chosen: NDArray[Any]) -> None:
    """Fill `chosen` with different numbers of 0..n-1, as `sample(range(n), len(chosen))` does.

    `sample` has two ways, by the size of what it draws from. Beyond five numbers it weighs them differently; no more
    are ever drawn here.
    """
    if n > _LARGEST_POOL:
        for i in range(len(chosen)):
            drawn = below(r, n)
            while _is_among(drawn, chosen, i):
                drawn = below(r, n)
            chosen[i] = drawn
        return
    pool = np.arange(n)
    for i in range(len(chosen)):
        j = below(r, n - i)
        chosen[i] = pool[j]
        pool[j] = pool[n - i - 1]


_LARGEST_POOL = 21


@kernel
def _is_among(value: int, values: NDArray[Any], count: int) -> bool:
    for i in range(count):
        if values[i] == value:
            return True
    return False


@kernel
def seed_by_words(r: Record, key: NDArray[np.uint32], length: int) -> None:
    """Set the generator as `random.seed` does, from the 32-bit words of a number, the lowest first."""
    words = r.generator
    value = np.int64(19650218)
    words[0] = value
    for i in range(1, GENERATOR_WORDS):
        value = (1812433253 * (value ^ (value >> 30)) + i) & _WORD
        words[i] = value
    i, j = 1, 0
    for _ in range(max(GENERATOR_WORDS, length)):
        before = np.int64(words[i - 1])
        mixed = (np.int64(words[i]) ^ ((before ^ (before >> 30)) * 1664525)) & _WORD
        words[i] = (mixed + np.int64(key[j]) + j) & _WORD
        i += 1
        j += 1
        if i >= GENERATOR_WORDS:
            words[0] = words[GENERATOR_WORDS - 1]
            i = 1
        if j >= length:
            j = 0
    for _ in range(GENERATOR_WORDS - 1):
        before = np.int64(words[i - 1])
        mixed = (np.int64(words[i]) ^ ((before ^ (before >> 30)) * 1566083941)) & _WORD
        words[i] = (mixed - i) & _WORD
        i += 1
        if i >= GENERATOR_WORDS:
            words[0] = words[GENERATOR_WORDS - 1]
            i = 1
    words[0] = _UPPER
    r.position = GENERATOR_WORDS


@kernel(cached=True)
def seed_generators(
    details: NDArray[np.void], ids: NDArray[np.int64], keys: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> None:
    """Seed the generators of the records `ids`, each with its own row of `keys`."""
    for k in range(len(ids)):
        seed_by_words(details[ids[k]], keys[k], lengths[k])


def seed_keys(seeds: Sequence[int]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the words that `random.seed` makes of each whole number, and how many there are; the sign is dropped."""
    numbers = [abs(seed) for seed in seeds]
    lengths = [max(1, (number.bit_length() + 31) // 32) for number in numbers]
    keys = np.zeros((len(numbers), max(lengths, default=1)), np.uint32)
    for row, number, length in zip(keys, numbers, lengths, strict=True):
        row[:length] = [(number >> (32 * k)) & _WORD for k in range(length)]
    return keys, np.array(lengths, np.int64)
