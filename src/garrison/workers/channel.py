"""Messages between a caller and its workers: a byte over an operating system pipe, with a payload only when needed.

A lower-case opcode is a message by itself: one write, one read, no pickling. An upper-case one is followed by its
payload's length and the payload, in one write. Readers block in the kernel; nobody spins.
"""

import os
import struct
from multiprocessing.connection import Connection

# To a worker.
STEP = b"s"  # step your whole section with the actions in the block
SOME = b"S"  # step these environments (int32 numbers within the section)
COMMAND = b"C"  # a pickled (name, arguments) of one of the worker's methods
EXIT = b"x"

# From a worker.
DONE = b"d"  # finished, nothing to say
RESULT = b"R"  # finished, with a pickled result
READY = b"I"  # these environments are ready (int32 numbers within the section)
READY_WITH = b"J"  # a pickled (numbers, infos)
FAILED = b"E"  # a pickled Failure

_LENGTH = struct.Struct("!I")


def send(line: Connection, opcode: bytes, payload: bytes = b"") -> None:
    """Send one message; raises BrokenPipeError if nobody can read it any more."""
    message = opcode + _LENGTH.pack(len(payload)) + payload if opcode.isupper() else opcode
    descriptor = line.fileno()
    sent = os.write(descriptor, message)
    while sent < len(message):  # a pipe takes 64 KiB at a time
        sent += os.write(descriptor, memoryview(message)[sent:])


def receive(line: Connection) -> tuple[bytes, bytes]:
    """Wait for one message and return its opcode and payload; raises EOFError if nobody can send one any more."""
    descriptor = line.fileno()
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
