"""The arguments that all suites share."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CommonArguments:
    """The arguments that all suites share."""

    quick: bool = False
    """Fewer rows and short repeats: a look in about a minute, not for publication."""
    out: Path | None = None
    """Folder for the results (JSON) and the page made from them (index.html)."""
