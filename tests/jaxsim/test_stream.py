"""The words of the compiled engine's generator, and what they decide, in 32 bits."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
from hypothesis import given
from hypothesis import strategies as st

from garrison.cage2 import rng
from garrison.cage2.layout import STATE
from garrison.jaxsim.stream import (
    first_bit,
    happens,
    next_word,
    nth_bit,
    odds,
    pick,
    pick_of_many,
    words_of,
    words_of_key,
)
from garrison.jit import plain

WORDS = np.array([0, 1, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1], np.uint32)
SOME_WORDS = np.concatenate([WORDS, np.random.default_rng(0).integers(0, 2**32, 500, np.uint32)])


def test_words_are_those_of_the_compiled_engine() -> None:
    envs = np.zeros(1, STATE)
    envs["stream"] = rng.seed_streams([2026])
    words = words_of(envs["stream"][0])
    for _ in range(50):
        word, words = next_word(words)
        assert int(word) == plain(rng.next_word)(envs.view(np.recarray)[0])
    assert [int(w) for w in words] == envs["stream"][0].tolist()


def test_a_number_is_picked_by_the_upper_half_of_the_product() -> None:
    for n in (1, 2, 13, 255, 32767, 65535):
        expected = (SOME_WORDS.astype(np.uint64) * np.uint64(n)) >> np.uint64(32)
        assert np.array_equal(pick(jnp.asarray(SOME_WORDS), n), expected)
    for n in (1000, 32767, 2**16, 2**20 + 7, 2**31 - 1):
        expected = (SOME_WORDS.astype(np.uint64) * np.uint64(n)) >> np.uint64(32)
        assert np.array_equal(pick_of_many(jnp.asarray(SOME_WORDS), n), expected)


def test_bits_of_a_mask_are_found() -> None:
    masks = np.arange(1, 2**13, dtype=np.int32)
    find = jax.jit(nth_bit)
    for n in range(13):
        found = np.asarray(find(jnp.asarray(masks), jnp.int32(n)))
        for mask, place in zip(masks.tolist(), found.tolist(), strict=True):
            hosts = [h for h in range(13) if mask >> h & 1]
            assert n >= len(hosts) or place == hosts[n]
    assert np.array_equal(first_bit(jnp.asarray(masks)), [(m & -m).bit_length() - 1 for m in masks.tolist()])


@given(p=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.75, 0.95, 1.0, 2**-32, 1 - 2**-53, 1 - 2**-33, 1e-300])))
def test_odds_decide_as_a_comparison_of_doubles(p: float) -> None:
    chance = odds(p)
    near = np.clip(int(chance.below) + np.arange(-2, 3), 0, 2**32 - 1).astype(np.uint32)
    words = np.concatenate([near, WORDS])
    assert np.array_equal(happens(jnp.asarray(words), chance), words * 2.0**-32 < p)


def test_odds_of_traced_numbers_are_exact_for_these() -> None:
    p = np.array([0, 2**-32, 0.1, 0.5, 0.75, 0.95, 1 - 2**-24, 1], np.float32)
    traced = jax.jit(odds)(jnp.asarray(p))
    exact = odds(p.astype(np.float64))
    assert np.array_equal(traced.below, exact.below)
    assert np.array_equal(traced.certain, exact.certain)


def test_a_key_is_a_stream_of_its_own() -> None:
    first, again, other = (np.stack(words_of_key(jax.random.key(seed))) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not (first == other).any()
