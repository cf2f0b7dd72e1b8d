"""Python's global random generator, lent to kernels: its position and its 624 words as one array.

CPython keeps these 625 numbers right behind the header of the generator's object. An array over that memory makes
lending free, where `random.getstate()` and `setstate()` build tuples of 625 ints. It is used only where it has been
seen to show what `getstate()` returns and to change what follows; elsewhere the state is copied.
"""

import ctypes
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import GENERATOR_WORDS

Words = NDArray[np.uint32]

_COUNT = GENERATOR_WORDS + 1
_GENERATOR = random._inst  # the object behind the functions of the module `random`


def memory_of(generator: random.Random) -> Words | None:
    """Return the position and the words of a generator as an array over its own memory; None if they are not there."""
    offset = object.__basicsize__
    if type(generator) is not random.Random or random.Random.__basicsize__ < offset + 4 * _COUNT:
        return None
    memory = (ctypes.c_uint32 * _COUNT).from_address(id(generator) + offset)
    words: Words = np.ctypeslib.as_array(memory)
    return words if _shows_state(words, generator) else None


def _state(generator: random.Random) -> list[int]:
    *words, position = generator.getstate()[1]
    return [position, *words]


def _shows_state(words: Words, generator: random.Random) -> bool:
    return bool(words.tolist() == _state(generator))


def _is_memory_understood() -> bool:
    """Return whether the memory of a generator follows its draws and seeds, and its draws follow the memory."""
    trial = random.Random(1)
    words = memory_of(trial)
    if words is None:
        return False
    trial.random()
    after_draw = _shows_state(words, trial)
    trial.seed(2)
    after_seed = _shows_state(words, trial)
    words[:] = _state(random.Random(3))
    return after_draw and after_seed and trial.random() == random.Random(3).random()


_MEMORY = memory_of(_GENERATOR) if _is_memory_understood() else None


def lend(use: Callable[[Words], Any], memory: Words | None = _MEMORY) -> Any:
    """Call `use` with the position and the words of Python's generator, which goes on from what it leaves there."""
    if memory is not None:
        return use(memory)
    version, (*words, position), gauss_next = _GENERATOR.getstate()
    copied = np.array([position, *words], np.uint32)
    try:
        return use(copied)
    finally:
        position, *words = copied.tolist()
        _GENERATOR.setstate((version, (*words, position), gauss_next))
