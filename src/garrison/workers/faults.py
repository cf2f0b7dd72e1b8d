"""What can go wrong in a vector environment, as errors that name the environment and say what to do."""

import signal
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from garrison.errors import GarrisonError, UserError


class EnvFailed(GarrisonError, RuntimeError):
    """An environment raised, or returned something that does not fit its spaces.

    The vector environment stays usable: call `reset()` before the next `step()`.
    """

    def __init__(self, index: int | None, summary: str, details: str = "") -> None:
        super().__init__(summary, details=details)
        self.index = index
        """The environment's number, or None if the fault belongs to no single one."""

    def __str__(self) -> str:
        return f"{self.summary}\n\n{self.details}" if self.details else self.summary


class EnvTimeout(GarrisonError, TimeoutError):
    """An environment did not return in time; its workers were ended and the vector environment is closed."""


class WorkerDied(GarrisonError, RuntimeError):
    """A worker process ended without being asked; the vector environment is closed."""


@dataclass(frozen=True)
class Failure:
    """An `EnvFailed` on its way from a worker to the caller."""

    index: int | None
    summary: str
    details: str
    is_input: bool = False
    """The input was wrong (`UserError`): its one sentence says everything."""

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """Describe any exception that ended a worker's command."""
        if isinstance(error, UserError):
            return cls(None, str(error), "", is_input=True)
        details = "".join(traceback.format_exception(error)).rstrip()
        if isinstance(error, EnvFailed):
            return cls(error.index, str(error), details if error.__cause__ else "")
        return cls(None, f"a worker raised {type(error).__name__}: {error}", details)

    def raise_(self) -> None:
        """Raise it where the caller can see it."""
        if self.is_input:
            raise UserError(self.summary)
        raise EnvFailed(self.index, self.summary, self.details)


def env_failed(index: int, doing: str, error: BaseException) -> EnvFailed:
    """Say that environment `index` raised `error` while `doing`, for use with `raise ... from error`."""
    return EnvFailed(index, f"environment {index} raised {type(error).__name__} in {doing}: {error}")


def span(indices: Sequence[int]) -> str:
    """Name consecutive environments: "environment 3" or "environments 4-7"."""
    if len(indices) == 1:
        return f"environment {indices[0]}"
    return f"environments {indices[0]}-{indices[-1]}"


def manner_of_death(exit_code: int | None) -> str:
    """Say how a process ended, from its exit code."""
    if exit_code is None:
        return "ended"
    if exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"ended by itself with exit code {exit_code}"
