"""Which scenario files are Scenario2: scripts name theirs by a path, and we only know that one."""

import hashlib
from pathlib import Path
from typing import Any

from garrison.cyborg.refusal import NotInGarrison

NAME = "Scenario2.yaml"

_OURS = "# Garrison's Scenario2"
_PUBLISHED = "db6634da35f28cd51bbc0968cc66bca79f6c8a396efb184727b79a7bfd9a6406"
"""Digest of the published file without comments and empty lines."""


def check_scenario(scenario_file: Any) -> None:
    """Refuse every scenario but Scenario2, and a Scenario2 that somebody has changed.

    A file need not be there: scripts name it by paths of the computers on which they were written.
    """
    path = Path(scenario_file)
    if path.name != NAME:
        raise NotInGarrison(f"the scenario {path.name}; here is only {NAME}")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return
    if not text.startswith(_OURS) and digest(text) != _PUBLISHED:
        raise NotInGarrison(f"the scenario {path}, which differs from the published {NAME}")


def digest(text: str) -> str:
    """Return the SHA-256 of a scenario file's lines, without comments, empty lines and spaces at the end."""
    lines = (line.split(" #")[0].rstrip() for line in text.splitlines() if not line.lstrip().startswith("#"))
    return hashlib.sha256("\n".join(line for line in lines if line).encode()).hexdigest()
