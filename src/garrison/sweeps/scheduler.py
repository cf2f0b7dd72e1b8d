"""The loop of a sweep: start runs where there is room, notice how they end, stop hopeless ones, until all are over.

It keeps nothing that is not also in the folder: whoever comes after it, after whatever end, goes on from there.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import sleep

from garrison.errors import UserError
from garrison.report.run_groups import written_score
from garrison.report.run_state import RUNNING
from garrison.runs.interrupts import Interrupts
from garrison.runs.page_rhythm import PageRhythm
from garrison.sweeps.choices import Choices
from garrison.sweeps.one_run import HELD, Job, keep_failure
from garrison.sweeps.slots import RunProcess, Slots
from garrison.sweeps.sweep_plan import SweepPlan
from garrison.sweeps.sweep_runs import FAILED, OUTPUT, OVER, RunLook, SweepRun
from garrison.sweeps.varied import short_name, written_value

PAUSE = 0.1
"""Seconds between two looks at the runs."""


@dataclass
class Scheduler:
    """Trains what is chosen, in the places that there are."""

    plan: SweepPlan
    choices: Choices
    slots: Slots
    interrupts: Interrupts
    pages: PageRhythm
    say: Callable[[str], None]
    failures: dict[str, str] = field(default_factory=dict)
    """What became of runs that failed here, a sentence each by their names; they are not tried again now."""
    _running: dict[str, tuple[SweepRun, RunProcess]] = field(default_factory=dict)
    _over: dict[str, RunLook] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Train until everything is over, or until a signal asks to stop."""
        try:
            while True:
                self._collect()
                if self.interrupts.signal is not None:
                    self._stop_all()
                    return
                self._prune()
                if not self._fill() and not self._running:
                    return
                self.pages.look()
                sleep(PAUSE)
        finally:
            for _, process in self._running.values():
                process.kill()

    def _fill(self) -> bool:
        """Start runs where there is room; return whether there is anything left to wait for."""
        while len(self._running) < self.slots.count:
            run, is_busy = self._next()
            if run is None:
                if not is_busy or self._running:
                    return is_busy
                self._say_once("waiting for runs that another process trains")
                return True
            self._start(run)
        return True

    def _next(self) -> tuple[SweepRun | None, bool]:
        """Return a run to start; without one, whether others are at work on runs of this sweep."""
        while True:
            is_busy = False
            for run in self.choices.candidates(self._look):
                if run.name in self._running or run.name in self.failures:
                    continue
                if self._look(run).state == RUNNING:
                    is_busy = True
                    continue
                return run, True
            if not self.choices.add():
                return None, is_busy

    def _start(self, run: SweepRun) -> None:
        try:
            experiment = self.plan.run_of(run.setting, run.seed)
        except UserError as error:  # a search may choose what does not go together
            keep_failure(run.name, run.path, error)
            self._note(run)
            return
        job = Job(experiment.to_dict(), run.name, str(run.path), [], [*sys.path, os.getcwd()])
        self._running[run.name] = (run, self.slots.start(job))

    def _collect(self) -> None:
        for name, (run, process) in list(self._running.items()):
            if (code := process.poll()) is not None:
                del self._running[name]
                if code == HELD:  # another process of this sweep was quicker
                    continue
                self._note(run, code)

    def _note(self, run: SweepRun, code: int = 1) -> None:
        """Say how a run ended."""
        look = self._look(run)
        word = self.choices.ended(run, self._look)
        if self.interrupts.signal is not None and look.state not in (*OVER, FAILED):
            return  # it was asked to stop
        if not word and look.state not in OVER:
            self.failures[run.name] = _failure(run, look, code)
        self.say(self._line(run, look, word or look.state))
        if run.name in self.failures:
            print(f"garrison sweep: {self.failures[run.name]}", file=sys.stderr, flush=True)
        self.pages.look()

    def _prune(self) -> None:
        for run, process in self._running.values():
            if self.choices.is_hopeless(run):
                process.stop()

    def _stop_all(self) -> None:
        for _, process in self._running.values():
            process.stop()
        while self._running:
            self._collect()
            sleep(PAUSE)

    def _look(self, run: SweepRun) -> RunLook:
        """Return how far a run is; one that is over stays so."""
        if run.name not in self._over:
            look = run.look()
            if look.state not in OVER:
                return look
            self._over[run.name] = look
        return self._over[run.name]

    def _line(self, run: SweepRun, look: RunLook, word: str) -> str:
        values = ", ".join(f"{short_name(name)} {written_value(value)}" for name, value in run.setting.values.items())
        score = written_score(look.score)
        told = f"{word}, score {score}" if score else word
        return f"{run.name}  {told}" + (f"   ({values})" if values else "")

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self.say(text)


def _failure(run: SweepRun, look: RunLook, code: int) -> str:
    details = next((path for path in (run.path / "error.txt", run.path / OUTPUT) if path.exists()), run.path)
    if look.state == FAILED:
        return f"{run.name} failed: {look.message.rstrip('.')}. The details are in {details}"
    what = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{run.name} {what} before it was finished. The details are in {details}"
