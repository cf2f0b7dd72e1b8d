"""How training ends: with a result, or because a quantity is not finite."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.learn.nn.policy import Policy


@dataclass(frozen=True)
class Result:
    """What training produced."""

    policy: "Policy"
    """The trained network; of several agents the first: `garrison.storage.saved_run.agents_of(state)` has all."""
    state: dict[str, Any]
    """Everything needed to continue: pass it to `train` as `resume`."""
    steps: int
    """Environment steps taken, earlier parts of a resumed run included."""
    updates: int
    """Updates made, earlier parts of a resumed run included."""
    seconds: float
    """Wall time of this part."""
    metrics: dict[str, float]
    """The metrics of the last update."""
    times: dict[str, float]
    """Seconds spent in each stage of this part."""
    threads: int
    """Threads that the network was computed with."""
    compute: str
    """How the network was computed: compiled, autograd or jax."""
    exact_resume: bool
    """False if the environments could not be put back into their states, so that new episodes began instead."""

    def __repr__(self) -> str:
        reward = self.metrics.get("rollout/ep_reward_mean")
        last = "" if reward is None else f", last mean return {reward:.4g}"
        return f"Result({self.steps:,} steps, {self.updates:,} updates, {self.seconds:.1f} s{last})"


class Diverged(RuntimeError):
    """A quantity stopped being finite; `state` is the last good state, before the update in which that happened."""

    def __init__(self, message: str, state: dict[str, Any]) -> None:
        super().__init__(message)
        self.state = state
