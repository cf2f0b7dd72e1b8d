"""Failures that are not bugs of ours: what was wrong and what to do, as fields until a command prints them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class GarrisonError(Exception):
    """A failure that a person can act on.

    The command line prints `summary` and `hint` without a traceback, and names the file that has the `details`.
    A subclass may have fields of its own and another exception as a second base; `str()` gives summary and hint.
    """

    exit_code = 1
    details_file: Path | None = None
    """Where `details` were written, if somebody has done so."""

    def __init__(self, summary: str, *, hint: str = "", details: str = "") -> None:
        super().__init__(f"{summary} {hint}".strip())
        self.summary = summary
        self.hint = hint
        self.details = details
        """More than fits a sentence, such as the traceback in the process where it happened."""


class UserError(GarrisonError, ValueError):
    """Bad input from a person; its message names the value and the fix."""

    exit_code = 2


@contextmanager
def foreign(what: str) -> Iterator[None]:
    """Say that `what`, a file of values that only we write, is damaged or of another version if reading it fails."""
    try:
        yield
    except GarrisonError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        import traceback

        raise UserError(
            f"{what} cannot be used: it is damaged, or of another version ({type(error).__name__}: {error}).",
            hint="Use another copy, or make it again.",
            details="".join(traceback.format_exception(error)),
        ) from error


def choose(what: str, value: str, options: tuple[str, ...] | list[str]) -> str:
    """Return `value` if it is among `options`; otherwise raise a `UserError` that suggests the nearest."""
    if value in options:
        return value
    from difflib import get_close_matches

    near = get_close_matches(str(value), options, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(map(repr, options))}."
    raise UserError(f"unknown {what} {value!r}; {hint}")
