"""Where the time of vector environments goes: what is counted, how it is attributed, and what can be read.

Every environment's group counts its own nanoseconds into cells of the buffers: inside `step()` of the environments
(*compute*), inside their `reset()`, reading and writing *extras*, and the rest of its work, which is splitting actions
and writing results (*copy*). The caller counts the wall time of its calls. A call with W groups is then

| part | is |
|---|---|
| compute, reset, extras | the mean over the W groups |
| copy | the mean over the groups, plus the caller's own: taking the actions in, merging infos, duplicating |
| wait | the slowest group's busy time less the mean: what all others lose at the barrier |
| ipc | what remains of the wall time: messages, pickling, waking up, and waiting for a core to run on |

so the parts add up to the wall time of the calls, exactly. With one group in the caller's own thread (`serial`)
nothing is sent, and what remains counts as copy. `async` has no barrier in its `recv`: there the slowest group is
the one that was busiest since the last look at `times`, and work that went on while the caller was elsewhere is not
counted, because the calls did not wait for it. The instrument's own work counts as copy.

A histogram of the single `step()` calls, in bins an eighth of an octave wide, is kept beside it.
"""

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

PARTS = ("compute", "reset", "extras", "copy", "ipc", "wait")
COMPUTE, RESET, EXTRAS, COPY, SPENT, RESETS = range(6)
CELLS = 8
"""Cells of a group, a cache line: nanoseconds of the four parts, their sum, and a number of resets."""
BINS = 512
FINE = 3  # bits of a duration that are kept after its first

clock = perf_counter_ns
Counts = NDArray[np.int64]


def bin_of(nanoseconds: int) -> int:
    """Return the bin of a duration; below 8 ns, which no step is, that of one below 16.

    >>> bin_of(1000) == bin_of(1020), bin_of(1000) < bin_of(1140)
    (True, True)
    """
    bits = (nanoseconds | 8).bit_length()
    return (bits << FINE) + (nanoseconds >> bits - FINE - 1 & 7)


def bins_of(times: Counts) -> Counts:
    """Return the bin of each of many durations in nanoseconds."""
    bits = np.frexp(times | 8)[1]
    bins: Counts = (bits << FINE) + (times >> bits - (FINE + 1) & 7)
    return bins


def edges() -> NDArray[np.float64]:
    """Return the lower edge of every bin in seconds, and the upper edge of the last."""
    places = np.arange(BINS + 1)
    bits, eighth = places >> FINE, places & 7
    lower: NDArray[np.float64] = (8 + eighth) * 2.0 ** (bits - 4) * 1e-9
    return lower


@dataclass(frozen=True)
class Distribution:
    """How long single steps took."""

    counts: Counts

    @property
    def total(self) -> int:
        """How many steps there were."""
        return int(self.counts.sum())

    def quantile(self, share: float) -> float:
        """Return the seconds that `share` of the steps did not exceed, by interpolation within a bin."""
        if not self.total:
            return 0.0
        sums = np.concatenate(([0], np.cumsum(self.counts)))
        k = int(np.searchsorted(sums, max(share * sums[-1], 1e-9), side="left")) - 1
        lower, upper = edges()[k : k + 2]
        return float(lower + (upper - lower) * (share * sums[-1] - sums[k]) / max(self.counts[k], 1))

    @property
    def longest(self) -> float:
        """The upper edge of the highest bin in use, at most an eighth above the longest step."""
        used = np.flatnonzero(self.counts)
        return float(edges()[used[-1] + 1]) if len(used) else 0.0

    @property
    def middles(self) -> NDArray[np.float64]:
        """The middle of every bin in seconds."""
        borders = edges()
        middles: NDArray[np.float64] = (borders[1:] + borders[:-1]) / 2.0
        return middles

    @property
    def mean(self) -> float:
        """The mean of the bins' middles."""
        return float(self.counts @ self.middles) / self.total if self.total else 0.0


@dataclass(frozen=True)
class Times:
    """Seconds of the calls so far, by part; the difference of two is what happened between them."""

    wall: float
    """Seconds inside `step`, `reset`, `send` and `recv`."""
    parts: dict[str, float]
    """Seconds of each of `PARTS`; they add up to `wall`."""
    resets: int
    """How many environments were reset."""
    counts: Counts
    """The histogram of single steps, summed over the groups."""

    def __sub__(self, earlier: "Times") -> "Times":
        parts = {part: seconds - earlier.parts[part] for part, seconds in self.parts.items()}
        return Times(self.wall - earlier.wall, parts, self.resets - earlier.resets, self.counts - earlier.counts)

    @cached_property
    def steps(self) -> Distribution:
        """How long single environments' steps took."""
        return Distribution(self.counts)


class TimeLedger:
    """The caller's account: what it counts itself, beside the cells of the groups."""

    def __init__(self, cells: Counts, counts: Counts, is_alone: bool) -> None:
        self._cells = cells
        self._counts = counts
        self._is_alone = is_alone
        self._spent = cells[:, SPENT]
        self._before: list[int] = self._spent.tolist()
        self._at_mark = cells.copy()
        self._hidden = np.zeros(COPY + 1)  # by part: work that no call waited for
        self.wall = 0
        self.outside = 0  # of it, the caller's own work
        self.slowest = 0.0
        self._is_open = False
        self._loose = 0

    def call(self, wall: int, inside: int) -> None:
        """Count a call that waited for every group; `inside` of its `wall` nanoseconds they were at work."""
        now = self._spent.tolist()
        self.slowest += max(map(int.__sub__, now, self._before))
        self._before = now
        self.wall += wall
        self.outside += wall - inside

    def open(self) -> None:
        """Begin to count calls that wait for some environments only."""
        if not self._is_open:
            self._is_open = True
            self._at_mark = self._cells.copy()

    def loose_call(self, wall: int, inside: int) -> None:
        """Count a call that waited for some environments only."""
        self.wall += wall
        self.outside += wall - inside
        self._loose += inside

    def attribute(self) -> None:
        """Attribute the loose calls since the last time."""
        if not self._is_open:
            return
        cells = self._cells.copy()
        delta = cells - self._at_mark
        busiest = int(delta[:, SPENT].max())
        share = min(1.0, self._loose / busiest) if busiest else 1.0
        self.slowest += busiest * share
        self._hidden += delta[:, : COPY + 1].mean(axis=0) * (1.0 - share)
        self._at_mark = cells
        self._before = cells[:, SPENT].tolist()
        self._loose = 0

    def close(self) -> None:
        """Attribute them, and go back to calls that wait for all."""
        self.attribute()
        self._is_open = False

    def read(self) -> Times:
        """Return the account as it stands."""
        compute, reset, extras, copy = (self._cells[:, : COPY + 1].mean(axis=0) - self._hidden).tolist()
        wait = self.slowest - (compute + reset + extras + copy)
        rest = self.wall - self.outside - self.slowest
        copy += self.outside
        if self._is_alone:
            copy, rest, wait = self.wall - (compute + reset + extras), 0.0, 0.0
        parts = dict(zip(PARTS, (compute, reset, extras, copy, rest, wait), strict=True))
        seconds = {part: 1e-9 * nanoseconds for part, nanoseconds in parts.items()}
        return Times(1e-9 * self.wall, seconds, int(self._cells[:, RESETS].sum()), self._counts.sum(axis=0))
