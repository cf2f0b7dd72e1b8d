"""Messages between a caller and its workers: one byte over a pipe, with a payload only when needed.

A lower-case opcode is a message by itself: one write, one read, no pickling. An upper-case one is followed by its
payload's length and the payload, in one write. Readers block in the kernel.
"""

import os
import struct
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

# To a worker. The users of a pool add opcodes of their own.
COMMAND = b"C"  # a pickled (name, arguments) of one of the worker's methods
EXIT = b"x"

# From a worker.
DONE = b"d"  # finished, without a result
RESULT = b"R"  # finished, with a pickled result
FAILED = b"E"  # a pickled Failure
DIED = b"died"  # never sent: a pool says so of a worker that has ended

FINAL = frozenset((DONE, RESULT, FAILED))
"""After one of these a worker has nothing more to do."""

_LENGTH = struct.Struct("!I")


class Message(NamedTuple):
    """What came from a worker."""

    worker: int
    opcode: bytes
    payload: Any
    """Bytes from a process; what the method returned from a Ray actor."""


def frame(opcode: bytes, payload: bytes = b"") -> bytes:
    """Return a message as it goes over a pipe."""
    return opcode + _LENGTH.pack(len(payload)) + payload if opcode.isupper() else opcode


def send(pipe: Connection, opcode: bytes, payload: bytes = b"") -> None:
    """Send one message; raises BrokenPipeError if nobody can read it any more."""
    message = frame(opcode, payload)
    descriptor = pipe.fileno()
    sent = os.write(descriptor, message)
    while sent < len(message):  # a pipe takes 64 KiB at a time
        sent += os.write(descriptor, memoryview(message)[sent:])


def receive(pipe: Connection) -> tuple[bytes, bytes]:
    """Wait for one message and return its opcode and payload; raises EOFError if nobody can send one any more."""
    descriptor = pipe.fileno()
    opcode = os.read(descriptor, 1)
    if not opcode:
        raise EOFError
    if opcode.islower():
        return opcode, b""
    (length,) = _LENGTH.unpack(_read(descriptor, _LENGTH.size))
    return opcode, _read(descriptor, length)


def _read(descriptor: int, length: int) -> bytes:
    pieces = []
    while length:
        piece = os.read(descriptor, min(length, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)
