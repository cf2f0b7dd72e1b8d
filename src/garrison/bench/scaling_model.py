"""What a step costs on more cores than were there to measure: sums of named parts, each of which was measured.

The native batch, n environments over k threads (`native_seconds`):

    call + hand-over(k) + n x the larger of  cost / k  and  bytes / bandwidth(k)

Worker processes, n environments over w workers (`worker_seconds`):

    fixed + wake-up(w) + n x caller + ceil(n / w) x (step + inside)

Training (`training_seconds`): Amdahl's law, with the share that was serial when the second core came.

What cannot be known from two cores is assumed twice. The *cautious* line takes it to be as bad as it was here: threads
that take turns on two cores, cores that slow each other down and wait for each other, no more memory bandwidth than two
cores have. The *hopeful* line takes it to cost nothing: threads wake side by side, every core is as quick as a lone one
and finds its share of the batch in its own cache, and brings its own bandwidth. A forecast reaches from one line to the
other.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from garrison.bench.method.estimate import Estimate, estimate

OUT_OF_CACHE = 100_000
"""Environments of a batch that no cache is counted on to hold: more than 100 MB."""
PAIR = 2
"""Cores that the parts are measured on."""

P = TypeVar("P")


@dataclass(frozen=True)
class NativeParts:
    """What a step of the native batch is made of; seconds unless it says otherwise."""

    call: float
    """A call, whatever the batch: the border between Python and compiled code."""
    near: float
    """An environment of a batch that a core's own cache holds."""
    costs: Mapping[int, float]
    """An environment of a batch of this size, on one thread."""
    wake: float
    """Handing slices to a second thread and waiting for it."""
    each: float
    """The same for each further thread, with more threads than cores."""
    in_step: float
    """How quick each of two threads is that wait for each other after every step, as a share of a lone one."""
    bytes_least: float
    """Bytes that a step of an environment moves if it reads only what it changes,"""
    bytes_most: float
    """and if it reads its whole record."""
    copy_one: float
    """Bytes a second that one thread reads and writes,"""
    copy_pair: float
    """and two of them together."""


def native_seconds(parts: NativeParts, envs: int, threads: int, hopeful: bool) -> float:
    """Return what a step of the whole batch takes; its size must be one whose cost was measured."""
    cost = parts.costs[envs]
    if threads == 1:
        return parts.call + envs * cost
    hand_over = parts.wake + (0.0 if hopeful else (threads - PAIR) * parts.each)
    computing = min(cost, parts.near) / threads if hopeful else cost / (threads * parts.in_step)
    return parts.call + hand_over + envs * max(computing, memory_seconds(parts, envs, threads, hopeful))


def memory_seconds(parts: NativeParts, envs: int, threads: int, hopeful: bool) -> float:
    """Return what moving an environment's bytes takes when they come from memory; nothing while a cache holds them."""
    if envs < OUT_OF_CACHE:
        return 0.0
    return parts.bytes_least / (threads * parts.copy_one) if hopeful else parts.bytes_most / parts.copy_pair


@dataclass(frozen=True)
class WorkerParts:
    """What a step of the `shared` backend is made of; seconds unless it says otherwise."""

    steps: Mapping[str, float]
    """An environment's own step in a bare loop, by the name of its cost."""
    fixed: float
    """A step with one worker, whatever the environments: a message there and one back."""
    second: float
    """What a second worker adds to that."""
    each: float
    """What each further worker adds, with more workers than cores."""
    caller: float
    """An environment's part in the caller, which nobody shares."""
    inside: float
    """An environment's part in its worker, around the environment's own step."""
    together: float
    """How quick each of two cores is beside the other, as a share of a lone one."""


def worker_seconds(parts: WorkerParts, envs: int, workers: int, cost: str, hopeful: bool) -> float:
    """Return what a step of all environments of this cost takes, with a core for every worker."""
    slowest = math.ceil(envs / workers) * (parts.steps[cost] + parts.inside)
    caller = parts.fixed + envs * parts.caller
    if workers == 1:
        return caller + slowest
    if hopeful:
        return caller + parts.second + slowest
    return caller + parts.second + (workers - PAIR) * parts.each + slowest / parts.together


@dataclass(frozen=True)
class TrainingParts:
    """What a step of training takes, in seconds, on one and on two threads."""

    one: float
    two: float
    together: float
    """How quick each of two cores is beside the other, as a share of a lone one."""


def serial_share(parts: TrainingParts, hopeful: bool) -> float:
    """Return the share of training that a second core did not make shorter.

    The hopeful line does not count what two cores that slow each other down lose: that is not serial.
    """
    ideal = 1 / (PAIR * parts.together) if hopeful else 1 / PAIR
    return min(1.0, max(0.0, (parts.two / parts.one - ideal) / (1 - ideal))) if ideal < 1 else 0.0


def training_seconds(parts: TrainingParts, cores: int, hopeful: bool) -> float:
    """Return what a step of training takes on this many cores."""
    share = serial_share(parts, hopeful)
    return parts.one * (share + (1 - share) / cores)


class Comparison(NamedTuple):
    """A measurement beside a forecast."""

    times: Estimate
    """How many times the middle of the forecast was measured."""
    verdict: str
    """Whether it lies in the range; outside is where the whole interval of its ratio to the nearer line is."""


@dataclass(frozen=True)
class Forecast:
    """A number on other machines: what the parts of every round say about it, on both lines."""

    cautious: tuple[float, ...]
    hopeful: tuple[float, ...]

    @property
    def low(self) -> float:
        """The lower end of the cautious line's interval."""
        return min(estimate(self.cautious).low, estimate(self.hopeful).low)

    @property
    def high(self) -> float:
        """The upper end of the hopeful line's interval."""
        return max(estimate(self.cautious).high, estimate(self.hopeful).high)

    @property
    def middle(self) -> tuple[float, ...]:
        """What lies between the lines, in every round: as many times the one as the other is times this."""
        return tuple(math.sqrt(low * high) for low, high in zip(self.cautious, self.hopeful, strict=True))

    def compare(self, measured: Sequence[float]) -> Comparison:
        """Compare with a measurement of the same rounds, inside each of them."""
        to_cautious, to_middle, to_hopeful = (
            estimate([got / ahead for got, ahead in zip(measured, line, strict=False)])
            for line in (self.cautious, self.middle, self.hopeful)
        )
        verdict = "below" if to_cautious.high < 1 else "above" if to_hopeful.low > 1 else "in the range"
        return Comparison(to_middle, verdict)


def forecast(parts: Sequence[P], number: Callable[[P, bool], float]) -> Forecast:
    """Return what the parts of every round say about a number, on both lines."""
    cautious, hopeful = (tuple(number(each, line) for each in parts) for line in (False, True))
    return Forecast(cautious, hopeful)
