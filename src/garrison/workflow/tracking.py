"""Follows a training's reward and compliance: adds them to the metrics, and stops when the rules say so."""

from collections.abc import Sequence
from typing import Any, Protocol

from garrison.learn import stages
from garrison.learn.run import RunLog
from garrison.report.workflow_metrics import ALIGNMENT, COMPLIANCE, ENV_REWARD, EPISODES, FIXES, TOTAL
from garrison.workflow.stopping import Stopper


class WorkflowEnvs(Protocol):
    """Environments with a workflow."""

    @property
    def workflow(self) -> Any:
        """How it is followed, see `garrison.cage2.workflow.Compliance`."""


class ComplianceTracker(RunLog):
    """Stands between the learner and another log: adds means over the episode that each environment ended last.

    Args:
        envs: the environments that are trained in.
        stopper: the rules.
        inner: gets everything, the added metrics included.
        progress: what `progress()` returned, to continue from.
    """

    def __init__(
        self, envs: WorkflowEnvs, stopper: Stopper, inner: RunLog | None = None, progress: dict[str, Any] | None = None
    ) -> None:
        self._envs, self.stopper, self._inner = envs, stopper, RunLog() if inner is None else inner
        self.episodes = 0
        self.updates = 0
        self.last: dict[str, float] = {}
        self.rows: list[dict[str, float]] = []
        if progress is not None:
            self.episodes, self.updates = int(progress["episodes"]), int(progress["updates"])
            stopper.restore(progress["stopper"])

    def progress(self) -> dict[str, Any]:
        """Return what a resumed training needs."""
        return {"episodes": self.episodes, "updates": self.updates, "stopper": self.stopper.state()}

    @property
    def stop(self) -> bool:
        """Whether to end after this update."""
        return self.stopper.reason is not None or self._inner.stop

    @property
    def share(self) -> float | None:
        """The share of the run that is done, if the other log knows it better than the steps tell."""
        return self._inner.share

    @property
    def action_kinds(self) -> Sequence[str] | None:
        """The names of actions, as the other log has them."""
        return self._inner.action_kinds

    def started(self) -> None:
        """Pass it on."""
        self._inner.started()

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Add what the workflow says to the metrics of one update."""
        self.updates += 1
        self.episodes += int(metrics["rollout/episodes"])
        numbers = {**workflow_metrics(self._envs), EPISODES: float(self.episodes)}
        self.last = numbers
        self.stopper.add(self.episodes, numbers.get(COMPLIANCE))
        seconds = {
            "collect": stages.total(metrics, stages.COLLECTING),
            "learn": stages.total(metrics, stages.LEARNING),
        }
        self.rows.append({"update": self.updates, "step": step, **numbers, **seconds})
        self._inner.log(step, {**metrics, **numbers})

    def say(self, text: str) -> None:
        """Pass a sentence on."""
        self._inner.say(text)

    def due_checkpoint(self, step: int) -> bool:
        """Return whether a checkpoint is wanted now."""
        return self._inner.due_checkpoint(step)

    def checkpoint(self, state: dict[str, Any]) -> None:
        """Pass a state on, with the progress."""
        self._inner.checkpoint({**state, "workflow": self.progress()})


def workflow_metrics(envs: WorkflowEnvs) -> dict[str, float]:
    """Return the means over the last episode of each environment; empty before the first has ended."""
    books = envs.workflow
    # All is 0 before an episode has ended; an episode without a fix has the rate 0.5.
    ended = (books.last_fixes > 0) | (books.last_rate > 0)
    if not ended.any():
        return {}
    env_reward = float(books.last_env_return[ended].mean())
    alignment = float(books.last_alignment_return[ended].mean())
    return {
        ENV_REWARD: env_reward,
        ALIGNMENT: alignment,
        TOTAL: env_reward + alignment,
        COMPLIANCE: float(books.last_rate[ended].mean()),
        FIXES: float(books.last_fixes[ended].mean()),
    }
