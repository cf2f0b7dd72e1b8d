"""What is sent between processes and machines, pickled, or an error that says what cannot be."""

import pickle
from typing import Any

import cloudpickle

from garrison.errors import UserError
from garrison.workers.faults import EnvFailed


def pack(value: Any, what: str, where: str = "another process", hint: str = "Build what it needs inside it.") -> bytes:
    """Pickle what a worker is started with, functions and classes of a script by value."""
    try:
        packed: bytes = cloudpickle.dumps(value)
        return packed
    except Exception as error:
        raise UserError(f"{what} cannot be sent to {where}: {error}.", hint=hint) from error


def encode(value: Any, what: str, hint: str = "") -> bytes:
    """Pickle a message; quickly if it consists of plain values."""
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:
        pass
    try:
        encoded: bytes = cloudpickle.dumps(value)
        return encoded
    except Exception as error:
        raise EnvFailed(f"{what}: {error}.", hint=hint) from error
