"""What can go wrong with workers and what they run, as errors whose parts are fields until somebody prints them."""

import signal
import traceback
from dataclasses import dataclass

from garrison.errors import GarrisonError, UserError


class EnvFailed(GarrisonError, RuntimeError):
    """An environment raised, or returned something that does not fit its spaces.

    The vector environment stays usable: call `reset()` before the next `step()`.
    """

    def __init__(self, summary: str, *, index: int | None = None, hint: str = "", details: str = "") -> None:
        super().__init__(summary, hint=hint, details=details)
        self.index = index
        """The environment's number, or None if the fault belongs to no single one."""

    def __str__(self) -> str:
        # In a Python traceback the worker's own traceback is what explains it.
        text = super().__str__()
        return f"{text}\n\n{self.details}" if self.details else text


class EnvTimeout(GarrisonError, TimeoutError):
    """An environment did not return in time; its workers were ended and the vector environment is closed."""

    def __init__(self, summary: str, *, worker: int | None = None, index: int | None = None, hint: str = "") -> None:
        super().__init__(summary, hint=hint)
        self.worker = worker
        self.index = index
        """The environment's number, or None if the worker has not made its environments."""


class WorkerDied(GarrisonError, RuntimeError):
    """A worker process ended without being asked; the vector environment is closed."""

    def __init__(self, summary: str, *, worker: int | None = None, hint: str = "", details: str = "") -> None:
        super().__init__(summary, hint=hint, details=details)
        self.worker = worker


@dataclass(frozen=True)
class Failure:
    """An exception on its way from a worker to its caller, in parts."""

    summary: str = ""
    """A whole sentence, of errors that have one (ours); empty otherwise."""
    kind: str = ""
    """The type of any other exception."""
    message: str = ""
    """What any other exception says."""
    hint: str = ""
    details: str = ""
    """The traceback where it happened, as text."""
    index: int | None = None
    """The environment's number, or None if the fault belongs to no single one."""
    input_error: type[UserError] | None = None
    """Set if the input was wrong: the class to raise; its one sentence says everything."""

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """Describe any exception that ended a worker's command."""
        if isinstance(error, UserError):
            return cls(error.summary, hint=error.hint, input_error=type(error))
        details = "".join(traceback.format_exception(error)).rstrip()
        if isinstance(error, EnvFailed):
            details = error.details or (details if error.__cause__ else "")
            return cls(error.summary, hint=error.hint, details=details, index=error.index)
        if isinstance(error, GarrisonError):
            return cls(error.summary, hint=error.hint, details=error.details)
        return cls(kind=type(error).__name__, message=str(error), details=details)

    @property
    def what(self) -> str:
        """What happened, to be read after the name of the worker."""
        return self.summary or f"raised {self.kind}: {self.message}"

    def raise_(self) -> None:
        """Raise it where the caller can see it."""
        if self.input_error:
            raise self.input_error(self.summary, hint=self.hint)
        summary = self.summary or f"a worker {self.what}"
        raise EnvFailed(summary, index=self.index, hint=self.hint, details=self.details)


def describe_exit(exit_code: int | None) -> str:
    """Return how a process ended, from its exit code, to be read after its name."""
    if exit_code is None:
        return "ended"
    if exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"ended by itself with exit code {exit_code}"
