"""Rows that are compared work in turns: they are alive together, and all but one are stopped.

The machine's speed changes within minutes and within seconds: by what others on the host do, by what the processor
allows. Rows that are measured after each other therefore differ by more than what is asked; those that take turns of a
fraction of a second meet the same machine. A row that is not on turn is stopped with all its processes (SIGSTOP), since
some of them work on when nobody asks, and its processor time is read while nothing runs.

The order of the turns is drawn anew for each pass: what worked right before leaves caches, clocks and the host's favour
to who comes next, so that two rows of the same code differed by up to 5 % where one always came after the other.

A pass in which others took the cores says little. More passes are made then, and those count that were disturbed least:
chosen by what others took, never by anybody's speed.
"""

import json
import os
import random
import select
import signal
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Any, NamedTuple

from garrison import system
from garrison.bench.method.fresh import Configuration, Sample, send_signal
from garrison.bench.method.fresh_process import FreshProcess

TURN_SECONDS = 0.1
"""How long a turn is; an advance of any that takes longer makes all turns as long, but none longer than its row works
in a round. Shorter ones meet the same machine more closely: with five turns of 0.2 s a round, ratios to CybORG still
differed by 5 to 15 % from round to round."""
DISTURBED = 0.05
"""The share of the cores' time that others may take from a pass before another is made."""
TRIES = 3
"""How many times as many passes as are needed are made at most."""
LISTEN_SECONDS = 0.5
"""How long an answer is waited for before a look whether the process is still there."""


class RowTurn(NamedTuple):
    """What a row did in one turn."""

    steps: int
    wall_seconds: float
    cpu_seconds: float
    stolen_seconds: float


Pass = dict[int, RowTurn]
"""A turn of each row, by its place; a row that has failed has none."""


class RowFailed(Exception):
    """What went wrong with a row's process."""


class TurnTaker:
    """A row's fresh process: set up and warmed up when this is made, and stopped whenever it is not its turn."""

    def __init__(self, configuration: Configuration, warm_up: float, timeout: float) -> None:
        self._timeout = timeout
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        given: dict[str, Any] = {"workload": configuration.workload, "arguments": configuration.arguments}
        given |= {"warm_up": configuration.longer * warm_up, "orders": orders, "answers": answers}
        function = "garrison.bench.method.fresh:take_turns"
        self._process = FreshProcess(function, given, configuration.python, configuration.path, (orders, answers))
        os.close(orders)
        os.close(answers)
        self.start_seconds = self.advance_seconds = 0.0
        self._stopped: list[int] = []
        self._unread = b""
        try:
            self.start_seconds, self.advance_seconds = self._answer()
            self._stop(self._process.processes()[:1])
        except BaseException:
            self.close()
            raise

    def turn(self, seconds: float) -> RowTurn:
        """Let it work for so many seconds, or for one advance if that takes longer."""
        cpu, stolen = system.cpu_seconds(self._stopped), system.stolen_seconds()
        steps, wall = self._ask(seconds)
        return RowTurn(steps, wall, system.cpu_seconds(self._stopped) - cpu, system.stolen_seconds() - stolen)

    def facts(self) -> dict[str, float]:
        """Return what the workload itself reports."""
        found: dict[str, float] = self._ask(None)
        return found

    def memory(self) -> tuple[float, float, int]:
        """Return the processes' peak and present share of memory, in megabytes, and their number."""
        return *system.memory_mb(self._stopped), len(self._stopped)

    def close(self) -> None:
        """End it, with everything that it started."""
        self._process.__exit__()
        os.close(self._orders)
        os.close(self._answers)

    def __enter__(self) -> "TurnTaker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, seconds: float | None) -> Any:
        # Its workers go on when it begins and stop when it has finished, both by its own hand: some work whether they
        # are asked or not, and what they did before or after would count as done in its time.
        process, *workers = self._stopped
        with suppress(BrokenPipeError):  # the answer tells
            os.write(self._orders, json.dumps((seconds, workers)).encode() + b"\n")
        send_signal([process], signal.SIGCONT)
        answer = self._answer()
        self._stop([process])
        return answer

    def _stop(self, processes: list[int]) -> None:
        send_signal(processes, signal.SIGSTOP)  # before it can start more
        self._stopped = self._process.processes()
        send_signal(self._stopped, signal.SIGSTOP)

    def _answer(self) -> Any:
        latest = monotonic() + self._timeout
        while b"\n" not in self._unread:
            if select.select([self._answers], [], [], LISTEN_SECONDS)[0]:
                heard = os.read(self._answers, 2**16)
                self._unread += heard
                if heard:
                    continue
            if self._process.has_ended:
                raise RowFailed(self._process.complaint())
            if monotonic() > latest:
                raise RowFailed(self._process.complaint(f"no result within {self._timeout:g} s"))
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)


def run_in_turns(
    configurations: Sequence[Configuration], seconds: float, warm_up: float, timeout: float, tries: int = TRIES
) -> tuple[list[Sample | str], int]:
    """Run rows in fresh processes, in turns, until each has worked for `seconds` that nobody else disturbed.

    Returns each row's sample, or what went wrong, and how many passes were made again.
    """
    outcomes: list[Sample | str] = [""] * len(configurations)
    with ExitStack() as stack:
        takers: dict[int, TurnTaker] = {}
        for k, configuration in enumerate(configurations):
            try:
                takers[k] = stack.enter_context(TurnTaker(configuration, warm_up, timeout))
            except RowFailed as failure:
                outcomes[k] = str(failure)

        def give_up(k: int, failure: RowFailed) -> None:
            outcomes[k] = str(failure)
            del takers[k]

        wanted = [configuration.longer * seconds for configuration in configurations]
        passes: list[Pass] = []
        needed = 0
        while takers and not (_enough(_quiet(passes), wanted, takers) or (needed and len(passes) >= tries * needed)):
            longest = max(taker.advance_seconds for taker in takers.values())
            passes.append({})
            for k, taker in random.sample(list(takers.items()), len(takers)):
                try:
                    passes[-1][k] = taker.turn(min(max(TURN_SECONDS, longest), wanted[k]))
                except RowFailed as failure:
                    give_up(k, failure)
            if not needed and _enough(passes, wanted, takers):
                needed = len(passes)
        quiet = _quiet(passes)
        counted = quiet if _enough(quiet, wanted, takers) else sorted(passes, key=disturbance)[:needed]
        for k, taker in list(takers.items()):
            try:
                outcomes[k] = _sample(taker, [each[k] for each in counted])
            except RowFailed as failure:
                give_up(k, failure)
    return outcomes, max(0, len(passes) - needed)


def disturbance(turns: Pass) -> float:
    """Return the share of all cores' time that others on the host took during a pass."""
    wall = sum(turn.wall_seconds for turn in turns.values()) * (os.cpu_count() or 1)
    return sum(turn.stolen_seconds for turn in turns.values()) / wall if wall else 0.0


def _quiet(passes: list[Pass]) -> list[Pass]:
    return [each for each in passes if disturbance(each) <= DISTURBED]


def _enough(passes: list[Pass], wanted: list[float], takers: dict[int, TurnTaker]) -> bool:
    return all(sum(each[k].wall_seconds for each in passes) >= wanted[k] for k in takers)


def _sample(taker: TurnTaker, turns: list[RowTurn]) -> Sample:
    steps, wall, cpu, stolen = (sum(column) for column in zip(*turns, strict=True))
    peak, share, processes = taker.memory()
    cores = os.cpu_count() or 1
    return Sample(
        int(steps), wall, cpu, taker.start_seconds, peak, share, processes, taker.facts(), stolen / (wall * cores)
    )
