"""What was said and played, a line of JSON for each turn, in a file that only grows.

A game follows from its seed and actions, so a transcript is all that is needed to go on in the middle of an episode. A
process that is killed may leave half a line; it is cut off before the next one is written.
"""

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from garrison.cage2.names import NUM_ACTIONS
from garrison.errors import GarrisonError, UserError
from garrison.storage.schema import COUNT, NUMBER, TEXT, Kind, Missing, Wrong, check
from garrison.text.endpoint import Tokens

LARGEST = 2**32  # bytes of a transcript


@dataclass(frozen=True)
class PlayedTurn:
    """One line."""

    red: str
    length: int
    episode: int
    """Its number within the cell of attacker and length"""
    turn: int
    """From 1"""
    number: int
    """The action's, 0 to 144"""
    action: str
    """Its name, with the hosts' names in use"""
    reward: float
    said: str
    refusals: list[str]
    fell_back: bool
    messages: list[dict[str, Any]]
    usage: list[int]
    """As in `garrison.text.endpoint.Tokens`"""
    seconds: float

    @property
    def of(self) -> tuple[str, int, int]:
        """The episode: attacker, length, number."""
        return self.red, self.length, self.episode

    @classmethod
    def read(cls, values: Any) -> Self:
        """Return the turn of a line's JSON object; raise a UserError that says what is wrong with it."""
        try:
            check(values, _LINE)
        except Missing as missing:
            raise UserError(f"it has no {missing}.") from None
        except Wrong as wrong:
            raise UserError(f"{wrong}.") from None
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})


def _is_list_of(kind: type) -> Any:
    return lambda value: isinstance(value, list) and all(type(one) is kind for one in value)


_LINE: dict[str, Kind] = {
    "red": TEXT,
    "length": COUNT,
    "episode": COUNT,
    "turn": COUNT,
    "number": Kind("an action's number", lambda value: type(value) is int and 0 <= value < NUM_ACTIONS),
    "action": TEXT,
    "reward": NUMBER,
    "said": TEXT,
    "refusals": Kind("a list of texts", _is_list_of(str)),
    "fell_back": Kind("true or false", lambda value: isinstance(value, bool)),
    "messages": Kind("a list of messages", _is_list_of(dict)),
    "usage": Kind(
        f"{len(Tokens._fields)} counts", lambda value: _is_list_of(int)(value) and len(value) == len(Tokens._fields)
    ),
    "seconds": NUMBER,
}

Turns = dict[tuple[str, int, int], list[PlayedTurn]]


class Transcript:
    """A file of turns: what it holds, and a way to add to it from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._is_closed = False

    def read(self) -> Turns:
        """Return the turns of every episode, in order."""
        return _turns(self._lines()[0], self.path)

    def open(self) -> Turns:
        """Return the turns, and make ready to add more: what a killed process left of its last line is cut off."""
        lines, whole = self._lines()
        turns = _turns(lines, self.path)
        if self.path.exists() and self.path.stat().st_size > whole:
            os.truncate(self.path, whole)
        return turns

    def add(self, turn: PlayedTurn) -> None:
        """Write a line, whole, and force it to the disk: an answer was paid for."""
        line = json.dumps(asdict(turn), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        with self._lock:
            if self._is_closed:
                raise GarrisonError(f"{self.path} is closed: an answer came too late.")
            with open(self.path, "ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())

    def close(self) -> None:
        """Let nobody add any more: a thread that still waits for an answer may outlive a contest that was stopped."""
        with self._lock:
            self._is_closed = True

    def _lines(self) -> tuple[list[bytes], int]:
        """Return the whole lines, and how many bytes they are."""
        try:
            size = self.path.stat().st_size
            if size > LARGEST:
                raise UserError(f"{self.path} is larger than any transcript.")
            data = self.path.read_bytes()
        except FileNotFoundError:
            return [], 0
        whole = data.rfind(b"\n") + 1
        return data[:whole].splitlines(), whole


def _turns(lines: list[bytes], path: Path) -> Turns:
    turns: Turns = {}
    for number, line in enumerate(lines, 1):
        try:
            turn = PlayedTurn.read(json.loads(line))
            earlier = turns.setdefault(turn.of, [])
            if turn.turn != len(earlier) + 1 or turn.turn > turn.length:
                raise UserError(f"turn {turn.turn} of an episode of {turn.length} follows turn {len(earlier)}.")
        except (ValueError, RecursionError) as error:
            said = error.summary if isinstance(error, UserError) else f"{type(error).__name__}: {str(error)[:80]}"
            raise UserError(f"{path}, line {number}, is no turn: {said}") from None
        earlier.append(turn)
    return turns


def usage_of(turns: Mapping[Any, list[PlayedTurn]]) -> Tokens:
    """Return the tokens of all turns together."""
    total = Tokens()
    for some in turns.values():
        for turn in some:
            total = total.plus(Tokens(*turn.usage))
    return total
