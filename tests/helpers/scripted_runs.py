"""Runs of a sweep that are written and not trained, a little at every look: how sweeps go, without waiting for them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from garrison.runs import marks
from garrison.sweeps.one_run import Job

Curve = Callable[[Job], list[float]]
"""The scores of a run during its training; the last one is that of its end."""
KILLED, INTERRUPTED = -9, 143


class Killed(BaseException):
    """What SIGKILL would be: nothing is tidied up on its way."""


@dataclass
class ScriptedProcess:
    """A run that makes one score at every look."""

    job: Job
    scores: list[float]
    fails: str = ""
    code: int | None = None

    def __post_init__(self) -> None:
        self.path = Path(self.job.path)
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "config.yaml").write_text(json.dumps(self.job.experiment))
        (self.path / "checkpoint.garrison").touch()
        self.step = len(self.rows())
        marks.add_mark(self.path, marks.RESUMED if self.step else marks.STARTED, self.step, 0.0)

    def rows(self) -> list[str]:
        metrics = self.path / "metrics.jsonl"
        return metrics.read_text().splitlines() if metrics.exists() else []

    def poll(self) -> int | None:
        if self.code is None:
            self._go_on()
        return self.code

    def stop(self) -> None:
        if self.code is None:
            self._end("interrupted", INTERRUPTED)

    def kill(self) -> None:
        self.code = KILLED if self.code is None else self.code

    def _go_on(self) -> None:
        if self.fails:
            (self.path / "error.txt").write_text(self.fails)
            self._end("failed", 1, message=self.fails)
        elif self.step == len(self.scores):
            evaluation = {"mean": self.scores[-1], "ci95": 1.0}
            self._end("finished", 0, evaluation=evaluation)
        else:
            score = self.scores[self.step]
            self.step += 1
            row = {"step": self.step, "time/elapsed_time": float(self.step), "evaluation/mean": score}
            with (self.path / "metrics.jsonl").open("a") as file:
                file.write(json.dumps(row | {"rollout/ep_reward_mean": score}) + "\n")

    def _end(self, status: str, code: int, **more: object) -> None:
        self.code = code
        (self.path / "summary.json").write_text(json.dumps({"status": status, "ended": marks.now(), **more}))


@dataclass
class ScriptedSlots:
    """Places for such runs; `dies_at` is how many starts it survives."""

    curve: Curve
    count: int = 2
    dies_at: int | None = None
    fails: dict[str, str] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    most: int = 0
    _processes: list[ScriptedProcess] = field(default_factory=list)

    def start(self, job: Job) -> ScriptedProcess:
        if self.dies_at is not None and len(self.started) >= self.dies_at:
            raise Killed
        self.started.append(job.name)
        process = ScriptedProcess(job, self.curve(job), self.fails.get(job.name, ""))
        self._processes.append(process)
        self.most = max(self.most, sum(each.code is None for each in self._processes))
        return process

    def close(self) -> None:
        pass

    def describe(self) -> str:
        return f"{self.count} at once"
