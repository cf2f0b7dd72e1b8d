"""Python's random numbers, compiled: word for word those of `random`."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from garrison.cage2 import mersenne
from garrison.cage2.layout import DETAILS, GENERATOR_WORDS
from garrison.jit import kernel, records

SEEDS = [0, 1, 153, 2**31, 2**32 - 1, 2**32, 2**40 + 7, 2**64 - 1, -5, 2**32000 + 9]
"""Of one word and of more than the generator has; a sign is dropped."""


@kernel
def words(r: Any, out: NDArray[np.int64], n: int) -> None:
    for i in range(len(out)):
        out[i] = mersenne.next_word(r)


@kernel
def numbers_below(r: Any, out: NDArray[np.int64], n: int) -> None:
    for i in range(len(out)):
        out[i] = mersenne.below(r, n)


@kernel
def uniforms(r: Any, out: NDArray[np.float64], n: int) -> None:
    for i in range(len(out)):
        out[i] = mersenne.uniform(r)


@kernel
def ones_of(r: Any, out: NDArray[np.int64], n: int) -> None:
    for i in range(len(out)):
        out[i] = mersenne.one_of(r, n)


@kernel
def shuffled(r: Any, out: NDArray[np.int64], n: int) -> None:
    for i in range(len(out)):
        out[i] = i
    mersenne.shuffle(r, out)


@kernel
def sampled(r: Any, out: NDArray[np.int64], n: int) -> None:
    mersenne.sample(r, n, out)


class Drawn:
    """A record with a generator of its own, beside Python's with the same seed."""

    def __init__(self, seed: int) -> None:
        self.record = np.zeros(1, DETAILS)
        keys = mersenne.seed_keys([seed])
        mersenne.seed_generators(records(self.record), np.zeros(1, np.int64), *keys)
        self.python = random.Random(seed)

    def numbers(self, draw: Callable[..., None], count: int, n: int = 0, dtype: Any = np.int64) -> list[Any]:
        out = np.zeros(count, dtype)
        draw(records(self.record)[0], out, n)
        return list(out.tolist())

    def is_level(self) -> bool:
        """Return whether both generators are in the same state."""
        return [*self.record["generator"][0].tolist(), int(self.record["position"][0])] == list(
            self.python.getstate()[1]
        )


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{seed:x}"[:20])
def test_a_seed_gives_the_state_that_it_gives_in_python(seed: int) -> None:
    drawn = Drawn(seed)
    assert drawn.is_level()
    count = 2 * GENERATOR_WORDS + 5  # so that it is refilled more than once
    assert drawn.numbers(words, count) == [drawn.python.getrandbits(32) for _ in range(count)]
    assert drawn.is_level()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 13, 14, 4095, 4096, 10848, 32767, 32768, 2**31 - 1, 2**31])
def test_choices_reject_as_in_python(n: int) -> None:
    drawn = Drawn(n)
    assert drawn.numbers(numbers_below, 300, n) == [drawn.python.randrange(n) for _ in range(300)]
    assert drawn.is_level()  # also where rejections took words


def test_a_choice_of_one_takes_words() -> None:
    drawn = Drawn(3)
    assert drawn.numbers(numbers_below, 100, 1) == [drawn.python.choice([0]) for _ in range(100)]
    assert drawn.is_level()
    assert drawn.record["position"][0] > 120  # about two each


def test_floats_and_choices_by_product_are_pythons() -> None:
    drawn = Drawn(9)
    assert drawn.numbers(uniforms, 500, dtype=np.float64) == [drawn.python.random() for _ in range(500)]
    for n in (1, 3, 7):
        assert drawn.numbers(ones_of, 200, n) == [drawn.python.choices(range(n))[0] for _ in range(200)]
    assert drawn.is_level()


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), n=st.integers(2, 40))
def test_shuffles_are_pythons(seed: int, n: int) -> None:
    drawn = Drawn(seed)
    expected = list(range(n))
    drawn.python.shuffle(expected)
    assert drawn.numbers(shuffled, n) == expected
    assert drawn.is_level()


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), n=st.sampled_from([5, 6, 14, 21, 22, 30, 4096]), k=st.integers(1, 5))
def test_samples_are_pythons_by_pool_and_by_set(seed: int, n: int, k: int) -> None:
    drawn = Drawn(seed)
    assert drawn.numbers(sampled, k, n) == drawn.python.sample(range(n), k)
    assert drawn.is_level()


def test_each_record_has_its_own_seed() -> None:
    details = np.zeros(3, DETAILS)
    mersenne.seed_generators(records(details), np.array([2, 0]), *mersenne.seed_keys([7, 2**40]))
    assert details["generator"][2].tolist() == list(random.Random(7).getstate()[1][:-1])
    assert details["generator"][0].tolist() == list(random.Random(2**40).getstate()[1][:-1])
    assert not details["generator"][1].any()
