"""Where the time of a run goes: one running total for each stage."""

from collections.abc import Mapping
from time import perf_counter

from garrison.learn.stages import SYNCHRONOUS


class Stopwatch:
    """Adds the time since the last mark to a stage's total.

    >>> watch = Stopwatch()
    >>> watch.mark("act")
    >>> sorted(watch.lap()) == sorted(SYNCHRONOUS)
    True
    """

    def __init__(self, stages: tuple[str, ...] = SYNCHRONOUS) -> None:
        self.totals = dict.fromkeys(stages, 0.0)
        self._last = perf_counter()
        self._lap = dict(self.totals)

    def mark(self, stage: str) -> None:
        """Count the time since the last mark as `stage`."""
        now = perf_counter()
        self.totals[stage] = self.totals.get(stage, 0.0) + now - self._last
        self._last = now

    def credit(self, times: Mapping[str, float]) -> None:
        """Count the time since the last mark as these stages, which another stopwatch has measured."""
        for stage, seconds in times.items():
            self.totals[stage] = self.totals.get(stage, 0.0) + seconds
        self._last = perf_counter()

    def divide(self, stage: str, parts: Mapping[str, float], rest: str) -> None:
        """Put what `stage` has into stages of its own, named `stage_part`; what `parts` leave over goes to `rest`.

        >>> watch = Stopwatch()
        >>> watch.totals["step"] = 5.0
        >>> watch.divide("step", {"compute": 3.0, "copy": 1.0, "wait": 0.0}, rest="copy")
        >>> {stage: seconds for stage, seconds in watch.totals.items() if stage.startswith("step")}
        {'step_compute': 3.0, 'step_copy': 2.0}
        """
        left_over = max(0.0, self.totals.pop(stage, 0.0) - sum(parts.values()))
        for part, seconds in parts.items():
            name, spent = f"{stage}_{part}", seconds + (left_over if part == rest else 0.0)
            if spent or name in self.totals:  # what an environment never does is not shown
                self.totals[name] = self.totals.get(name, 0.0) + spent

    def lap(self) -> dict[str, float]:
        """Return the seconds of each stage since the last lap."""
        lap = {stage: total - self._lap.get(stage, 0.0) for stage, total in self.totals.items()}
        self._lap = dict(self.totals)
        return lap
