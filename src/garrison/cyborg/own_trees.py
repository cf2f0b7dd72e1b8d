"""A user's own copy of CybORG, changed: Garrison plays the published game, so this must not stay unsaid."""

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

SAID = "GARRISON_CYBORG_CHANGES_SAID"
"""Set once it was said, so that worker processes do not repeat it."""
SHOWN = 5


def changed_files(tree: Path) -> list[str]:
    """Return the files of a tree whose content is that of neither version of the original."""
    published: dict[str, list[str]] = json.loads(Path(__file__).with_name("original_digests.json").read_text())
    return [name for name, known in published.items() if _digest(tree / name) not in (None, *known)]


def tell_of_changes(trees: Iterable[Path]) -> None:
    """Say on stderr which changed files have no effect here."""
    if os.environ.get(SAID) == "1":
        return
    for tree in trees:
        if changed := changed_files(tree):
            more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
            print(
                f"garrison: {tree} has changes to the published CybORG, in {', '.join(changed[:SHOWN])}{more}. "
                "Garrison plays the published game without them: run what needs them with your own copy.",
                file=sys.stderr,
            )
            os.environ[SAID] = "1"


def _digest(file: Path) -> str | None:
    try:
        content = file.read_bytes()
    except OSError:
        return None
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:12]
