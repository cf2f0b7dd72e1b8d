"""Numbers through which compiled threads tell each other how far they are.

Whoever reads a number that was published also sees everything that its writer wrote before. A plain read in a loop may
be done once and kept by the compiler, and a processor may show two writes in another order.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_BYTES = 8


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, [index])


@intrinsic  # type: ignore[untyped-decorator]
def _published(typing: Any, counts: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "acquire", _BYTES)

    return types.int64(counts, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def _publish(typing: Any, counts: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, value = arguments
        place = _place(context, builder, signature.args[0], array, index)
        builder.store_atomic(value, place, "release", _BYTES)
        return context.get_dummy_value()

    return types.void(counts, types.intp, types.int64), generate


def _read(counts: Counts, index: int) -> int:
    return int(counts[index])


def _write(counts: Counts, index: int, value: int) -> None:
    counts[index] = value


published = _read if config.DISABLE_JIT else _published
"""`published(counts, index)` is what was last published there."""
publish = _write if config.DISABLE_JIT else _publish
"""`publish(counts, index, value)` writes a number behind everything that this thread wrote before."""
