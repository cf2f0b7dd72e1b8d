"""What a family of environments tells about itself, with defaults for a family that has nothing special to say."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from garrison.errors import GarrisonError, UserError
from garrison.learn.config import LearnerConfig
from garrison.registration import CAGE2
from garrison.vector.registry import check_backend

if TYPE_CHECKING:
    from garrison.tasks.episode_score import EpisodeScore

MANY = 2**31
"""More environments or workers than any machine has memory for."""
QUICK_EPISODES = 16
"""Whole episodes of a score during training."""


class NotScored(GarrisonError):
    """A policy has no score in these environments, as when episodes do not end."""


@dataclass(frozen=True)
class EnvSettings:
    """The settings that environments of every family have."""

    env: str = CAGE2
    """A Gymnasium id: garrison/CAGE2-v0, CartPole-v1, ...; or module:Id, or module:callable."""
    envs: int = 1024
    """How many environments; for IMPALA and A3C, in each actor."""
    backend: str = "auto"
    """How they are stepped: auto, native (CAGE-2, Procgen, Atari: by one call), serial, shared, async, ... see
    garrison.vector."""
    workers: int = 0
    """Processes or threads of a backend that has them; 0 lets it choose."""

    def __post_init__(self) -> None:
        if not 1 <= self.envs < MANY:
            raise UserError(f"envs must be at least 1, and less than {MANY:,}; got {self.envs}.")
        if not 0 <= self.workers < MANY:
            raise UserError(f"workers must be 0 (the backend chooses) or more, not {self.workers}.")
        check_backend(self.backend)


@dataclass(frozen=True)
class QuickScore:
    """What a checkpoint scored during training."""

    total: float
    """The number that decides which checkpoint is the best."""
    metrics: dict[str, float]
    """What to log, under its final names."""
    text: str
    """One phrase for the view."""


@dataclass(frozen=True)
class FinalScore:
    """What the trained policy scored at the end."""

    summary: dict[str, Any]
    """What the run's summary keeps."""
    text: str
    """What a person reads."""


@dataclass(frozen=True)
class Task(ABC):
    """A family of environments with its settings; picklable, because actors make environments in their processes."""

    config: EnvSettings
    extras: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of extras that the environments must publish, for a critic that sees them."""
    fixed: ClassVar[tuple[str, ...]] = ("env", "envs")
    """Settings that a resumed run must not change."""
    final_episodes: ClassVar[int] = 32
    """How many episodes `final_score` plays if nobody says: few, because environments may be slow."""

    @abstractmethod
    def make_envs(self, num_envs: int) -> Any:
        """Make a vector environment of this many environments, with this autoreset mode and these extras."""

    def make_jax_env(self) -> Any:
        """Make the environment that is written in JAX, for a learner on the device; refuse if there is none."""
        raise UserError(f"{self.config.env} is not written in JAX, so ppo-jax cannot train in it: use ppo.")

    @property
    def autoreset_mode(self) -> Literal["NextStep", "SameStep"]:
        """The quicker one, unless the extras of an episode's end must be seen: they are gone under `SameStep`."""
        return "NextStep" if self.extras else "SameStep"

    def make_env(self, render_mode: str) -> Any:
        """Make one environment that renders itself so, to be filmed."""
        raise UserError(f"there is no film of {self.config.env}: its family makes no single environments.")

    @abstractmethod
    def describe(self) -> str:
        """Return what the view says about the environments."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what the summary keeps about the environments."""

    def as_scored(self) -> "Task":
        """Return the task as policies are scored on it: without what is changed about it only for training."""
        return self

    def check(self, learner: LearnerConfig) -> None:
        """Raise a UserError if these environments do not have what the learner needs."""
        return

    def action_kinds(self) -> tuple[str, ...] | None:
        """Return a name for each action, by which the metrics count them; several may have one; None for numbers."""
        return None

    def known_scores(self) -> dict[str, float]:
        """Return mean returns that others reached on these environments, by name."""
        return {}

    def quick_score(self, values: dict[str, Any]) -> QuickScore:
        """Score a checkpoint's values during training, with fewer episodes than at the end.

        Like `final_score`, this plays whole episodes with the likeliest actions; a family with a protocol of its own
        plays that. Either raises `NotScored` where there is no score to be had.
        """
        found = self._play(values, "checkpoint", QUICK_EPISODES)
        return QuickScore(
            found.mean,
            {"evaluation/mean": found.mean, "evaluation/ci95": found.ci95},
            f"mean return {found.mean:.2f} ± {found.ci95:.2f}",
        )

    def final_score(self, values: dict[str, Any], name: str, episodes: int) -> FinalScore:
        """Score a checkpoint's values at the end of training; `episodes` for each cell of a protocol that has some."""
        found = self._play(values, name, episodes)
        return FinalScore({"evaluation": found.to_dict()}, f"\n{found.to_text()}")

    def record_episodes(self, run: Path, episodes: int) -> None:
        """Leave something to watch in the folder of a finished run: its policy in chosen ones of `episodes` episodes.

        A family whose episodes nobody has a viewer for leaves nothing.
        """
        return

    def _play(self, values: dict[str, Any], name: str, episodes: int) -> "EpisodeScore":
        from garrison.agents.spaces import SpaceAgent
        from garrison.tasks.episode_score import play_episodes

        return play_episodes(SpaceAgent(values, name), replace(self, extras=()), episodes, seed=0)
