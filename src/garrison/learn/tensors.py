"""Arrays as tensors and back, so that a saved state loads without running code from it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


def to_tensors(value: Any) -> Any:
    """Copy arrays, also nested ones, into tensors; numbers become Python's."""
    if isinstance(value, np.ndarray):
        # A structured array has no tensor type: its bytes do.
        return torch.from_numpy(np.array(value if value.dtype.fields is None else value.view(np.uint8)))
    if isinstance(value, dict):
        return {key: to_tensors(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_tensors(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def to_arrays(value: Any, example: Any, older: Sequence[np.dtype[Any]] = ()) -> Any:
    """Undo `to_tensors`: give `value` the types that `example` has.

    Bytes of structured arrays say nothing of their fields: their number tells which of `older` layouts they have.
    """
    if isinstance(example, np.ndarray):
        array = value.numpy().copy()
        if example.dtype.fields is None:
            return array
        fits = (dtype for dtype in (example.dtype, *older) if array.nbytes == example.size * dtype.itemsize)
        return array.view(next(fits, example.dtype))
    if isinstance(example, dict):
        return {key: to_arrays(item, example[key], older) for key, item in value.items()}
    if isinstance(example, list | tuple):
        return type(example)(to_arrays(item, e, older) for item, e in zip(value, example, strict=True))
    return value
