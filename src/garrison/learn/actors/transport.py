"""What passes between actors and a learner: trajectories one way, weights the other. The algorithm knows only this.

    actor    borrow -> refresh -> fill -> deliver     ...     receive -> learn -> release -> publish    learner

`inline` implements it within one process, `local` with processes and shared memory.
A transport never drops a trajectory: an actor whose buffers are all with the learner waits in `borrow`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from garrison.learn.nn.policy import Policy
from garrison.learn.rollout import Rollout, Take

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Buffer:
    """Room for one trajectory."""

    rollout: Rollout
    memory: Floats
    """(towers, N, recurrent_size): the policy's memory before the first step."""


@dataclass(frozen=True)
class Layout:
    """What a buffer looks like; both sides lay out the same arrays from it."""

    policy: Policy
    steps: int
    num_envs: int
    masked: bool

    def carve(self, take: Take = np.zeros) -> Buffer:
        """Return a buffer in memory that `take` gives: private, or shared."""
        policy = self.policy
        rollout = Rollout.carve(take, self.steps, self.num_envs, policy.observations, policy.actions, self.masked)
        return Buffer(rollout, take(tuple(policy.initial_state(self.num_envs).shape), np.dtype(np.float32)))


@dataclass(frozen=True)
class ActorReport:
    """What an actor says about a trajectory, besides its arrays."""

    version: int
    """Of the weights that it was acted with."""
    returns: Sequence[float]
    """Of the episodes that ended in it."""
    lengths: Sequence[int]
    """Of the episodes that ended in it."""
    times: dict[str, float]
    """Seconds that the actor spent on it: act, step, copy, and wait (for a buffer)."""


@dataclass(frozen=True)
class Trajectory:
    """A filled buffer on the learner's side; views, valid until it is released."""

    buffer: Buffer
    report: ActorReport
    actor: int
    token: Any = None
    """The transport's own mark, by which it knows the buffer again."""


class Transport(Protocol):
    """The learner's side."""

    @property
    def actors(self) -> int:
        """How many actors there are; 0 if it is the learner's process that acts."""

    @property
    def processes(self) -> int:
        """How many processes of this machine the actors are."""

    @property
    def replaced(self) -> int:
        """How many actors have been replaced so far."""

    @property
    def is_exact(self) -> bool:
        """Whether a resumed run continues exactly where the saved one stopped, and not with new episodes."""

    def publish(self, weights: Floats, version: int) -> None:
        """Make newer weights available to every actor; never waits for one. The first call lets them begin."""

    def receive(self, timeout: float) -> Trajectory | None:
        """Return the next trajectory, or None if none came within `timeout` seconds."""

    def release(self, trajectory: Trajectory) -> None:
        """Give the trajectory's buffer back to its actor."""

    def check(self) -> list[str]:
        """Replace actors that died or are stuck; return what happened since the last call, a sentence each.

        Raises an error if replacing does not help.
        """

    def state(self) -> dict[str, Any]:
        """Return what actors need to continue exactly; {"envs": None} if they cannot."""

    def close(self) -> None:
        """End every actor."""


class ActorPort(Protocol):
    """An actor's side."""

    def borrow(self) -> Buffer | None:
        """Wait for a free buffer; None means that it is time to end."""

    def refresh(self, weights: Floats) -> int:
        """Copy the newest weights into `weights`, if they are newer than those from last time; return their version."""

    def deliver(self, buffer: Buffer, report: ActorReport) -> None:
        """Hand a filled buffer to the learner."""
