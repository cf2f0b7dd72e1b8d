"""What a checkpoint keeps of Procgen's games, checked before its library reads it.

The library ends the process when a state is not one of its game, and reads beyond the end of its memory when numbers in
it are wrong. So a state is kept with a checksum, and what the library would stumble over first is compared with the
games that are to go on from it: version, game and settings, with which every state begins.
"""

import hashlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError

END = struct.pack("<I", 0xCAFECAFE)
"""The last bytes of every state."""
NUMBER = 4  # bytes
SETTINGS = 16
"""Numbers behind the game's name that never change: its settings and the range of its levels."""
HINT = "Resume from another copy of the checkpoint, or start a new run."


def pack(states: list[bytes]) -> dict[str, Any]:
    """Return states one after the other, the length of each, and a checksum."""
    whole = np.frombuffer(b"".join(states), np.uint8).copy()
    lengths = np.array([len(state) for state in states], np.int64)
    return {"states": whole, "lengths": lengths, "checksum": _checksum(whole, lengths)}


def unpack(saved: Any, num: int, present: bytes) -> list[bytes]:
    """Return the states that `pack` was given, of `num` games; `present` is the state of one that they should fit.

    What was saved by versions without a checksum is checked for the rest.
    """
    whole, lengths = _arrays(saved, num)
    if saved.get("checksum", _checksum(whole, lengths)) != _checksum(whole, lengths):
        raise UserError("the saved states of Procgen's games are damaged: their checksum is wrong.", hint=HINT)
    ends = np.cumsum(lengths).tolist()
    states = [whole[end - length : end].tobytes() for length, end in zip(lengths.tolist(), ends, strict=True)]
    beginning = present[: _name_end(present) + SETTINGS * NUMBER]
    for i, state in enumerate(states):
        if not state.endswith(END):
            raise UserError(f"the saved state of game {i} is damaged: it is not one of Procgen's.", hint=HINT)
        if not state.startswith(beginning):
            raise UserError(
                f"the saved state of game {i} is of another game of Procgen's than {_name(present)}, or of one with "
                "other settings.",
                hint="Make the games as they were made when it was saved.",
            )
    return states


def _arrays(saved: Any, num: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the states and their lengths, if they are the arrays that `pack` makes of so many games."""
    match saved:
        case {"states": np.ndarray() as whole, "lengths": np.ndarray() as lengths}:
            fits = whole.dtype == np.uint8 and lengths.dtype == np.int64 and (whole.ndim, lengths.shape) == (1, (num,))
            # Each alone, because a sum may wrap around.
            if fits and np.all((lengths >= 0) & (lengths <= len(whole))) and lengths.sum() == len(whole):
                return whole, lengths
    raise UserError(f"this is not the state of {num} games.")


def _checksum(whole: NDArray[np.uint8], lengths: NDArray[np.int64]) -> str:
    return hashlib.sha256(lengths.tobytes() + whole.tobytes()).hexdigest()


def _name(state: bytes) -> str:
    return state[2 * NUMBER : _name_end(state)].decode()


def _name_end(state: bytes) -> int:
    """Return where the name of a sound state ends: behind the version, its own length, and itself."""
    return 2 * NUMBER + int.from_bytes(state[NUMBER : 2 * NUMBER], "little")
