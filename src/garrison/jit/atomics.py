"""Words of memory that several threads change at once, for kernels that run beside each other without the GIL.

Numba has none of this for the CPU. Every operation is sequentially consistent: all threads see them in one order.
Plain Python, where one thread runs at a time, has the same functions without anything atomic about them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

Words = NDArray[np.int64]

_ORDER, _BYTES = "seq_cst", 8
# What tells a core that it waits in a loop: it then leaves more to the other half of its physical core.
_PAUSE: dict[str, tuple[str, tuple[int, ...]]] = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
    "arm64": ("llvm.aarch64.hint", (1,)),
}


def load(words: Words, place: int) -> int:
    """Return the word in its place."""
    return int(words[place])


def store(words: Words, place: int, value: int) -> None:
    """Replace the word in its place."""
    words[place] = value


def add(words: Words, place: int, amount: int) -> int:
    """Add to the word in its place; return what it was."""
    before = int(words[place])
    words[place] = before + amount
    return before


def swap_if(words: Words, place: int, expected: int, value: int) -> bool:
    """Replace the word in its place if it is the expected one; return whether it was."""
    if words[place] != expected:
        return False
    words[place] = value
    return True


def pause() -> None:
    """Let a core know that it waits for another."""


def act_at(address: Any, observations: Any, memory: Any, actions: Any, begin: int, end: int) -> None:
    """Call the machine code of a policy, see `garrison.cage2.policies`; in plain Python `address` is a function."""
    address(observations, memory, actions, begin, end)


def _pointer(context: Any, builder: Any, signature: Any, values: Any, which: int = 0, place: Any = None) -> Any:
    array = context.make_array(signature.args[which])(context, builder, values[which])
    return array.data if place is None else builder.gep(array.data, [place])


def _atomic(result: Any, emit: Callable[..., Any], count: int) -> Any:
    """Return an intrinsic of an array of words, a place and `count` more words."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _pointer(context, builder, signature, values, place=values[1])
        found = emit(builder, place, *values[2:])
        return context.get_dummy_value() if result is types.void else found

    if count == 0:

        @intrinsic
        def none_more(typing_context: Any, words: Any, place: Any) -> Any:
            return result(words, types.int64), generate

        return none_more
    if count == 1:

        @intrinsic
        def one_more(typing_context: Any, words: Any, place: Any, value: Any) -> Any:
            return result(words, types.int64, types.int64), generate

        return one_more

    @intrinsic
    def two_more(typing_context: Any, words: Any, place: Any, value: Any, other: Any) -> Any:
        return result(words, types.int64, types.int64, types.int64), generate

    return two_more


def _emit_swap(builder: Any, place: Any, expected: Any, value: Any) -> Any:
    return builder.extract_value(builder.cmpxchg(place, expected, value, _ORDER, _ORDER), 1)


_load = _atomic(types.int64, lambda builder, place: builder.load_atomic(place, _ORDER, _BYTES), 0)
_store = _atomic(types.void, lambda builder, place, value: builder.store_atomic(value, place, _ORDER, _BYTES), 1)
_add = _atomic(types.int64, lambda builder, place, value: builder.atomic_rmw("add", place, value, _ORDER), 1)
_swap_if = _atomic(types.boolean, _emit_swap, 2)


@intrinsic
def _pause(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        name, numbers = _PAUSE.get(binding.get_process_triple().partition("-")[0], ("", ()))
        if name:
            given = [ir.Constant(ir.IntType(32), number) for number in numbers]
            kind = ir.FunctionType(ir.VoidType(), [value.type for value in given])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), given)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _act_at(
    typing_context: Any, address: Any, observations: Any, memory: Any, actions: Any, begin: Any, end: Any
) -> Any:
    signature = types.void(types.int64, observations, memory, actions, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        rows, width = [], []
        for which in (1, 2):
            array = context.make_array(signature.args[which])(context, builder, values[which])
            rows.append(array.data)
            width.append(builder.extract_value(array.shape, 1))
        words = [_pointer(context, builder, signature, values, 3), *values[4:]]
        given = [rows[0], width[0], rows[1], width[1], *words]
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in given])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), given)
        return context.get_dummy_value()

    return signature, generate


@overload(load, strict=False)
def _overload_load(words: Any, place: Any) -> Any:
    return lambda words, place: _load(words, place)


@overload(store, strict=False)
def _overload_store(words: Any, place: Any, value: Any) -> Any:
    return lambda words, place, value: _store(words, place, value)


@overload(add, strict=False)
def _overload_add(words: Any, place: Any, amount: Any) -> Any:
    return lambda words, place, amount: _add(words, place, amount)


@overload(swap_if, strict=False)
def _overload_swap_if(words: Any, place: Any, expected: Any, value: Any) -> Any:
    return lambda words, place, expected, value: _swap_if(words, place, expected, value)


@overload(pause, strict=False)
def _overload_pause() -> Any:
    return lambda: _pause()


@overload(act_at, strict=False)
def _overload_act_at(address: Any, observations: Any, memory: Any, actions: Any, begin: Any, end: Any) -> Any:
    return lambda address, observations, memory, actions, begin, end: _act_at(
        address, observations, memory, actions, begin, end
    )
