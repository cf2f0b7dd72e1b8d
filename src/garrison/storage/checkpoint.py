"""The checkpoint file: a JSON header that describes nested values, the bytes of the arrays, and a checksum.

There is nothing in it that could be executed, and a file that was cut short, changed or made by another program is
recognised as such before anything is used.

    8 bytes    magic
    8 bytes    length of the header, little-endian
    header     JSON: format, producer, the tree of values, the type and shape of each array
    arrays     one after the other
    32 bytes   SHA-256 of all before
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.storage.atomic import write_bytes
from garrison.version import __version__

MAGIC = b"GARRISON"
FORMAT = 1
NAME = "checkpoint.garrison"
DIGEST = hashlib.sha256().digest_size
ARRAY = "$array"  # the tree says {"$array": 3} where the fourth array belongs
DTYPES = ("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float32", "float64")


def save(path: Path, values: dict[str, Any]) -> int:
    """Write nested dicts and lists of tensors, arrays and plain values; return the file's size.

    The old file stays until the new one is complete.
    """
    chunks = encode(values)
    write_bytes(path, chunks)
    return sum(len(chunk) for chunk in chunks)


def encode(values: dict[str, Any]) -> list[bytes]:
    """Return the file's content in pieces."""
    arrays: list[NDArray[Any]] = []
    tree = _take_arrays(values, arrays, "")
    header = json.dumps(
        {
            "format": FORMAT,
            "producer": f"garrison {__version__}",
            "tree": tree,
            "arrays": [{"dtype": a.dtype.name, "shape": a.shape} for a in arrays],
        }
    ).encode()
    chunks = [MAGIC, len(header).to_bytes(8, "little"), header, *(a.tobytes() for a in arrays)]
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return [*chunks, digest.digest()]


def load(path: Path) -> dict[str, Any]:
    """Read what `save` wrote, tensors as arrays. A run folder stands for its last checkpoint."""
    if path.is_dir():
        if not (path / NAME).exists():
            raise UserError(f"there is no checkpoint in {path}: it has no file {NAME}.")
        path = path / NAME
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the checkpoint {path}: {os.strerror(error.errno or 0)}.") from None
    return decode(content, str(path))


def decode(content: bytes, name: str) -> dict[str, Any]:
    """Return the values in a file's content; `name` is for the messages."""
    start = len(MAGIC) + 8
    if content[: len(MAGIC)] != MAGIC:
        kind = "it looks like a torch or zip file" if content[:2] == b"PK" else "it does not begin as one"
        raise UserError(f"{name} is not a Garrison checkpoint: {kind}.")
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if len(content) < end + DIGEST or hashlib.sha256(body).digest() != digest:
        raise UserError(f"{name} is damaged: its checksum is wrong, so it was cut short or changed. Use another copy.")
    try:
        return _read(body, start, end, name)
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{name} is not a valid checkpoint: its header does not describe its content.") from None


def _read(body: bytes, start: int, end: int, name: str) -> dict[str, Any]:
    header = json.loads(body[start:end])
    if header["format"] != FORMAT:
        raise UserError(
            f"{name} has checkpoint format {header['format']} (written by {header['producer']}); "
            f"this is garrison {__version__}, which reads format {FORMAT}."
        )
    arrays = []
    for row in header["arrays"]:
        if row["dtype"] not in DTYPES:
            raise UserError(f"{name} holds an array of type {row['dtype']!r}, which no checkpoint has.")
        if min(row["shape"], default=0) < 0:
            raise ValueError("a negative length")
        count = int(np.prod(row["shape"], dtype=np.int64))
        array = (
            np.frombuffer(body, np.dtype(row["dtype"]), count=count, offset=end) if count else np.zeros(0, row["dtype"])
        )
        arrays.append(array.reshape(row["shape"]).copy())
        end += array.nbytes
    values = _put_arrays(header["tree"], arrays)
    if not isinstance(values, dict):
        raise TypeError("the tree has no names")
    return values


def tensors(values: Any) -> Any:
    """Turn every array in nested values into a tensor that shares its memory."""
    import torch

    if isinstance(values, np.ndarray):
        return torch.from_numpy(values)
    if isinstance(values, dict):
        return {key: tensors(value) for key, value in values.items()}
    if isinstance(values, list):
        return [tensors(value) for value in values]
    return values


def _take_arrays(value: Any, arrays: list[NDArray[Any]], where: str) -> Any:
    """Return `value` with every array replaced by its number among `arrays`."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key == ARRAY:
                raise TypeError(f"a checkpoint cannot hold the key {key!r} of {where or 'its root'}")
        return {key: _take_arrays(item, arrays, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_take_arrays(item, arrays, where) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    array = value.detach().cpu().numpy() if hasattr(value, "detach") else value
    if isinstance(array, np.generic):
        return array.item()
    if not isinstance(array, np.ndarray) or array.dtype.name not in DTYPES:
        raise TypeError(f"a checkpoint cannot hold {where}: {getattr(array, 'dtype', type(array).__name__)}")
    arrays.append(np.asarray(array, order="C"))
    return {ARRAY: len(arrays) - 1}


def _put_arrays(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {ARRAY}:
            return arrays[value[ARRAY]]
        return {key: _put_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_put_arrays(item, arrays) for item in value]
    return value
