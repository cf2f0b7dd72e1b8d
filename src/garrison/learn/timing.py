"""Where the time of a run goes: one running total for each stage."""

from time import perf_counter

STAGES = ("act", "step", "copy", "advantages", "learn", "log")


class Stopwatch:
    """Adds the time since the last mark to a stage's total.

    >>> watch = Stopwatch()
    >>> watch.mark("act")
    >>> sorted(watch.lap()) == sorted(STAGES)
    True
    """

    def __init__(self, stages: tuple[str, ...] = STAGES) -> None:
        self.totals = dict.fromkeys(stages, 0.0)
        self._last = perf_counter()
        self._lap = dict(self.totals)

    def mark(self, stage: str) -> None:
        """Count the time since the last mark as `stage`."""
        now = perf_counter()
        self.totals[stage] += now - self._last
        self._last = now

    def credit(self, times: dict[str, float]) -> None:
        """Count the time since the last mark as these stages, which another stopwatch has measured."""
        for stage, seconds in times.items():
            self.totals[stage] += seconds
        self._last = perf_counter()

    def lap(self) -> dict[str, float]:
        """Return the seconds of each stage since the last lap."""
        lap = {stage: total - self._lap[stage] for stage, total in self.totals.items()}
        self._lap = dict(self.totals)
        return lap
