"""When training on an order is over: compliant enough, no longer getting better, or out of episodes."""

from dataclasses import dataclass
from typing import Any

MIN_GAIN = 0.01  # of the compliance: less than this is no progress

COMPLIANT, PLATEAU, EPISODES = "compliant", "plateau", "episodes"
REASONS = {
    COMPLIANT: "the compliance has reached the threshold",
    PLATEAU: f"the compliance has not gained {MIN_GAIN} for as many updates as patience allows",
    EPISODES: "the episodes are used up",
}


@dataclass(frozen=True)
class StopRules:
    """The limits of one training."""

    threshold: float | None
    """Stop at this compliance; None means never."""
    patience: int
    """Stop after this many updates without a gain of `MIN_GAIN`; 0 means never."""
    min_episodes: int
    """Neither of these before this many episodes."""
    max_episodes: int | None
    """Stop after this many episodes; None if something else ends the training."""


class Stopper:
    """Follows the compliance from update to update; `reason` says why to stop, once there is a reason.

    >>> stopper = Stopper(StopRules(0.9, patience=2, min_episodes=0, max_episodes=1000))
    >>> for episodes, compliance in ((10, 0.50), (20, 0.80), (30, 0.805), (40, 0.80)):
    ...     stopper.add(episodes, compliance)
    >>> stopper.reason
    'plateau'
    """

    def __init__(self, rules: StopRules) -> None:
        self.rules = rules
        self.reason: str | None = None
        self.best = -1.0
        self.waited = 0

    def add(self, episodes: int, compliance: float | None) -> None:
        """Take the episodes so far and the compliance of an update; None if no episode has ended yet."""
        rules = self.rules
        if compliance is not None:
            if compliance > self.best + MIN_GAIN:
                self.best, self.waited = compliance, 0
            else:
                self.waited += 1
            if episodes >= rules.min_episodes:
                if rules.threshold is not None and compliance >= rules.threshold:
                    self.reason = COMPLIANT
                elif rules.patience and self.waited >= rules.patience:
                    self.reason = PLATEAU
        if self.reason is None and rules.max_episodes is not None and episodes >= rules.max_episodes:
            self.reason = EPISODES

    def state(self) -> dict[str, Any]:
        """Return what a resumed training needs."""
        return {"best": self.best, "waited": self.waited}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.best, self.waited = float(state["best"]), int(state["waited"])
