"""Python's generator lent to kernels: through its memory where that is understood, else by copying."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from garrison.cage2 import python_random
from garrison.cage2.python_random import lend, memory_of

WAYS = [pytest.param(python_random._MEMORY, id="memory"), pytest.param(None, id="copies")]


@pytest.fixture(autouse=True)
def others() -> Iterator[None]:
    """Leave Python's generator as it was for whoever comes next."""
    state = random.getstate()
    yield
    random.setstate(state)


def test_this_python_keeps_its_generator_where_we_look() -> None:
    assert python_random._MEMORY is not None


@pytest.mark.parametrize("memory", WAYS)
def test_what_is_lent_is_the_state_and_what_is_left_there_is_the_new_one(memory: Any) -> None:
    random.seed(5)
    random.random()
    seen = lend(lambda words: words.tolist(), memory)
    assert seen == [random.getstate()[1][-1], *random.getstate()[1][:-1]]
    *words, position = random.Random(8).getstate()[1]

    def replace(lent: Any) -> str:
        lent[:] = [position, *words]
        return "done"

    assert lend(replace, memory) == "done"
    assert random.random() == random.Random(8).random()


@pytest.mark.parametrize("memory", WAYS)
def test_the_second_number_of_a_pair_of_normal_ones_is_left_alone(memory: Any) -> None:
    random.seed(5)
    random.gauss(0, 1)
    expected = random.getstate()
    lend(lambda words: None, memory)
    assert random.getstate() == expected


def test_a_failing_borrower_gives_the_generator_back() -> None:
    random.seed(5)

    def fail(lent: Any) -> None:
        lent[0] = 624
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lend(fail, None)
    assert random.getstate()[1][-1] == 624


def test_other_generators_are_not_looked_into() -> None:
    class Own(random.Random):
        pass

    assert memory_of(Own(1)) is None
    assert memory_of(random.SystemRandom()) is None


def test_memory_that_shows_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        @staticmethod
        def as_array(memory: Any) -> Any:
            return np.zeros(python_random._COUNT, np.uint32)

    monkeypatch.setattr(python_random.np, "ctypeslib", Other)
    assert memory_of(random.Random(1)) is None
    assert not python_random._is_memory_understood()
