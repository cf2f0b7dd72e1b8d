"""Trajectories side by side: what one update learns from, copied so that the actors get their buffers back at once."""

from dataclasses import fields

from garrison.learn.actors.transport import ActorReport, Layout, Trajectory
from garrison.learn.rollout import Rollout


class Gathered:
    """Room for `batch` trajectories of one layout; trajectory k has the columns from k * num_envs on."""

    def __init__(self, layout: Layout, batch: int) -> None:
        self._num_envs, self._batch = layout.num_envs, batch
        wide = Layout(layout.policy, layout.steps, layout.num_envs * batch, layout.masked)
        self.buffer = wide.carve()
        self.reports: list[ActorReport] = []
        self._actors: list[int] = []

    @property
    def rollout(self) -> Rollout:
        """All trajectories as one rollout."""
        return self.buffer.rollout

    @property
    def is_full(self) -> bool:
        """Whether there are enough for an update."""
        return len(self.reports) == self._batch

    def add(self, trajectory: Trajectory) -> None:
        """Copy a trajectory into the next columns."""
        first = len(self.reports) * self._num_envs
        columns = slice(first, first + self._num_envs)
        source = trajectory.buffer.rollout
        for field in fields(Rollout):
            array = getattr(source, field.name)
            if field.name == "last_values":
                self.rollout.last_values[columns] = array
            elif len(array):
                getattr(self.rollout, field.name)[:, columns] = array
        self.buffer.memory[:, columns] = trajectory.buffer.memory
        self.reports.append(trajectory.report)
        self._actors.append(trajectory.actor)

    def clear(self) -> None:
        """Begin the next update's batch."""
        self.reports, self._actors = [], []

    def sources(self) -> list[tuple[slice, int]]:
        """Return the columns of each trajectory, and the actor that it is from."""
        width = self._num_envs
        return [(slice(k * width, (k + 1) * width), actor) for k, actor in enumerate(self._actors)]

    def lags(self, version: int) -> list[int]:
        """Return how many versions old each trajectory's policy is."""
        return [version - report.version for report in self.reports]

    def episodes(self) -> tuple[list[float], list[int]]:
        """Return the returns and lengths of the episodes that ended."""
        returns = [value for report in self.reports for value in report.returns]
        return returns, [length for report in self.reports for length in report.lengths]

    def shares(self) -> dict[str, float]:
        """Return the share of the actors' time that each of their stages took."""
        stages = dict.fromkeys(stage for report in self.reports for stage in report.times)
        spent = {stage: sum(report.times.get(stage, 0.0) for report in self.reports) for stage in stages}
        total = sum(spent.values()) or 1.0
        return {stage: seconds / total for stage, seconds in spent.items()}
