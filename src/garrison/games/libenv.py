"""A batch of games behind libenv, the C interface of Procgen's library, called through ctypes.

Procgen's Python package needs gym3, gym and NumPy 1 to make this connection; the library itself needs none of them.
"""

import ctypes
import os
from ctypes import POINTER, Structure, c_char, c_int, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION = 1
NAME = 128  # bytes of a name
OBSERVATION, ACTION, INFO = 1, 2, 3  # the kinds of spaces
DTYPES = {1: np.dtype(np.uint8), 2: np.dtype(np.int32), 3: np.dtype(np.float32)}
LARGEST_STATE = 2**20


class _Tensor(Structure):
    _fields_ = (
        ("name", c_char * NAME),
        ("scalar_type", c_int),
        ("dtype", c_int),
        ("shape", c_int * 16),
        ("ndim", c_int),
        ("low", c_int),
        ("high", c_int),
    )


class _Option(Structure):
    _fields_ = (("name", c_char * NAME), ("dtype", c_int), ("count", c_int), ("data", c_void_p))


class _Options(Structure):
    _fields_ = (("items", POINTER(_Option)), ("count", c_int))


class _Buffers(Structure):
    _fields_ = tuple((name, c_void_p) for name in ("observations", "rewards", "starts", "infos", "actions"))


class LibenvBatch:
    """Games that are stepped by one call; what they show is in arrays that the next step overwrites.

    Args:
        library: the path of the shared library.
        num: how many games.
        options: what the library knows how to set; text, whole numbers and booleans.
    """

    def __init__(self, library: Path, num: int, options: dict[str, str | int | bool]) -> None:
        self.num = num
        self._handle: int | None = None
        self._library = _load(str(library))
        self._options, self._kept = _to_options(options)  # the library reads them for as long as the games live
        self._handle = self._library.libenv_make(num, self._options)
        self.observations, observations = self._arrays(OBSERVATION)
        self.actions, actions = self._arrays(ACTION)
        self.infos, infos = self._arrays(INFO)
        self.rewards = np.zeros(num, np.float32)
        self.starts = np.zeros(num, np.bool_)
        """Which games show the first observation of an episode."""
        places = [observations, self.rewards.ctypes.data, self.starts.ctypes.data, infos, actions]
        self._kept += places
        self._buffers = _Buffers(*(ctypes.cast(p, c_void_p) if not isinstance(p, int) else p for p in places))
        self._library.libenv_set_buffers(self._handle, ctypes.byref(self._buffers))
        self.observe()

    def observe(self) -> None:
        """Wait for the games, and write what they show into the arrays."""
        self._library.libenv_observe(self._handle)

    def step(self) -> None:
        """Step every game with what is in `actions`."""
        self._library.libenv_act(self._handle)
        self._library.libenv_observe(self._handle)

    def get_state(self, game: int) -> bytes:
        """Return everything that the game depends on."""
        buffer = ctypes.create_string_buffer(LARGEST_STATE)
        length = self._library.get_state(self._handle, game, buffer, LARGEST_STATE)
        return buffer.raw[:length]

    def set_state(self, game: int, state: bytes) -> None:
        """Continue a game from a saved state; `observe` then shows it."""
        self._library.set_state(self._handle, game, state, len(state))

    def close(self) -> None:
        """Free the games and stop their threads."""
        if self._handle is not None:
            self._library.libenv_close(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def _arrays(self, kind: int) -> tuple[dict[str, NDArray[Any]], Any]:
        """Return an array for each tensor of a space, and where the row of each game begins."""
        count = self._library.libenv_get_tensortypes(self._handle, kind, None)
        tensors = (_Tensor * count)()
        self._library.libenv_get_tensortypes(self._handle, kind, tensors)
        arrays = {
            tensor.name.decode(): np.zeros((self.num, *tensor.shape[: tensor.ndim]), DTYPES[tensor.dtype])
            for tensor in tensors
        }
        rows = [array.ctypes.data + i * array.strides[0] for array in arrays.values() for i in range(self.num)]
        return arrays, (c_void_p * len(rows))(*rows)


@cache
def _load(path: str) -> ctypes.CDLL:
    # Once for the process: it keeps its pictures, which take seconds to load. Its Qt must not meet another one.
    library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0))
    handle = c_void_p
    for name, result, arguments in (
        ("libenv_version", c_int, []),
        ("libenv_make", handle, [c_int, _Options]),
        ("libenv_get_tensortypes", c_int, [handle, c_int, c_void_p]),
        ("libenv_set_buffers", None, [handle, c_void_p]),
        ("libenv_observe", None, [handle]),
        ("libenv_act", None, [handle]),
        ("libenv_close", None, [handle]),
        ("get_state", c_int, [handle, c_int, c_void_p, c_int]),
        ("set_state", None, [handle, c_int, ctypes.c_char_p, c_int]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.libenv_version() != VERSION:
        raise ImportError(f"{path} has version {library.libenv_version()} of libenv, not {VERSION}")
    return library


def _to_options(options: dict[str, str | int | bool]) -> tuple[_Options, list[Any]]:
    """Return the options as the library takes them, and what must stay in memory with them."""
    items = (_Option * len(options))()
    kept: list[Any] = [items]
    for item, (name, value) in zip(items, options.items(), strict=True):
        data: Any
        if isinstance(value, str):
            text = value.encode()
            data, item.dtype, item.count = ctypes.create_string_buffer(text), 1, len(text)
        elif isinstance(value, bool):
            data, item.dtype, item.count = ctypes.c_uint8(value), 1, 1
        else:
            data, item.dtype, item.count = ctypes.c_int32(value), 2, 1
        item.name, item.data = name.encode(), ctypes.addressof(data)
        kept.append(data)
    return _Options(items, len(options)), kept
