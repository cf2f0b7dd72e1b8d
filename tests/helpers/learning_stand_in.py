"""Stands in for a training run of `garrison bench learning`: a curve at once, and no torch."""

from typing import Any

from garrison.bench.method.labels import GARRISON
from garrison.bench.suites import learning_runs

RISE = 100.0
"""What an episode of ours returns above one of theirs."""


class Trainings:
    """Answers in the place of `FreshProcess`; counts what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, int]] = []
        self.fails: set[str] = set()

    def __call__(self, function: str, given: dict[str, Any]) -> "Trainings.Process":
        assert function == "garrison.bench.suites.learning_runs:train"
        self.asked.append((given["job"]["env"], given["who"], given["seed"]))
        return self.Process(given, given["job"]["env"] in self.fails)

    class Process:
        """A run that is done at once."""

        has_ended = True

        def __init__(self, given: dict[str, Any], fails: bool) -> None:
            self._given, self._fails = given, fails

        def __enter__(self) -> "Trainings.Process":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def outcome(self) -> dict[str, Any] | str:
            """Return a curve that rises, higher for us, and a little higher for every seed."""
            if self._fails:
                return "Traceback\nValueError: it broke"
            steps, above = self._given["job"]["steps"], RISE if self._given["who"] == GARRISON else 0.0
            ends = [(k * steps // 40, k + above + self._given["seed"]) for k in range(1, 41)]
            return {"curve": learning_runs.curve(ends, steps), "episodes": 40, "seconds": 1.0}
