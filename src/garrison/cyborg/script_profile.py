"""Where a script's time goes: which way its steps took through the simulator, and how long they stayed inside.

Only a process that is to be profiled imports this. It puts counters around the methods of our classes, so that nothing
is counted, and nothing costs, in any other.
"""

import atexit
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import isfunction
from time import perf_counter
from typing import Any

from garrison.cyborg.controller import Controller
from garrison.cyborg.fast_door import FastBlue
from garrison.cyborg.sides import Side

COUNTED = {
    "begin": "resets",
    "play_number": "steps by bits",
    "step": "steps by dicts",
    "_follow": "dicts made",
    "get_true_state": "true states",
}
"""Methods of `Controller`, and what a call of each is in the table."""


class InsideClock:
    """Adds up the time between entering our code and leaving it, also for the script's agents that it calls."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.inside = 0.0
        self._depth = 0
        self._since = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time is spent inside."""

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._depth == 0:
                self._since = perf_counter()
            self._depth += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.inside += perf_counter() - self._since

        return call

    def outside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of `Side` whose time is the script's, if its agent is."""

        @wraps(function)
        def call(side: Side, *args: Any, **kwargs: Any) -> Any:
            if self._depth == 0 or type(side.agent).__module__.startswith("CybORG.Agents."):
                return function(side, *args, **kwargs)
            depth, self._depth = self._depth, 0
            self.inside += perf_counter() - self._since
            try:
                return function(side, *args, **kwargs)
            finally:
                self._depth, self._since = depth, perf_counter()

        return call


class Tally:
    """Counts for every game that the process makes; games with the same players are one line."""

    def __init__(self) -> None:
        self.games: Counter[str] = Counter()
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)

    def counted(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of `Controller` whose calls are counted."""

        @wraps(function)
        def call(game: Controller, *args: Any, **kwargs: Any) -> Any:
            self.counts[players(game)][what] += 1
            return function(game, *args, **kwargs)

        return call

    def made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the constructor of `Controller`, counted."""

        @wraps(function)
        def call(game: Controller, *args: Any, **kwargs: Any) -> None:
            function(game, *args, **kwargs)
            self.games[players(game)] += 1

        return call


def players(game: Controller) -> str:
    """Return who plays a game, without Green."""
    sides = game._sides  # asking for them by their public name would make dicts
    return " against ".join(
        "outside or asleep" if sides[name].sleeps else type(sides[name].agent).__name__ for name in ("Blue", "Red")
    )


def watch(entries: Iterable[type]) -> None:
    """Count and time from now on, and print the table when the process ends; `entries` are what scripts call."""
    clock, tally = InsideClock(), Tally()
    for method, what in COUNTED.items():
        setattr(Controller, method, tally.counted(what, getattr(Controller, method)))
    Controller.__init__ = tally.made(Controller.__init__)  # type: ignore[method-assign]
    for entry in (*entries, FastBlue):
        for name, function in list(vars(entry).items()):
            if isfunction(function) and (name == "__init__" or not name.startswith("_")):
                setattr(entry, name, clock.timed(function))
    for method in ("choose", "train", "end_episode"):
        setattr(Side, method, clock.outside(getattr(Side, method)))
    atexit.register(lambda: print(text_of(tally, clock), file=sys.stderr))


def text_of(tally: Tally, clock: InsideClock) -> str:
    """Return the table."""
    head = ["Blue against Red", "games", *COUNTED.values()]
    rows = [
        [who, f"{games:,}", *(f"{tally.counts[who][what]:,}" for what in COUNTED.values())]
        for who, games in tally.games.items()
    ]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [
        "  ".join([who.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
        for who, *cells in [head, *rows]
    ]
    total = perf_counter() - clock.began
    share = f"{clock.inside:.2f} s ({clock.inside / total:.0%}) inside Garrison, the rest the script's own"
    return "\n".join([*lines, f"{total:.2f} s since CybORG was imported: {share}"])
