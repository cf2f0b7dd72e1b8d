"""What happened in a run, and when: one line of `marks.jsonl` for each part that began, each checkpoint and warning.

Metrics say how a run went; marks say what was done with it. Times are those of the day, with the zone.
"""

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from garrison.storage.atomic import write_bytes
from garrison.storage.schema import is_number

FILE = "marks.jsonl"
STARTED, RESUMED, SAVED, BEST, SAID = "started", "resumed", "checkpoint", "best", "said"
PARTS = (STARTED, RESUMED)
"""The marks that begin a part of a run."""


class RunMark(NamedTuple):
    """One thing that happened."""

    what: str
    step: int
    seconds: float
    """Of training, earlier parts included."""
    time: str
    """Of the day, as ISO 8601 writes it."""
    text: str = ""


def add_mark(folder: Path, what: str, step: int, seconds: float, text: str = "") -> None:
    """Write a mark; where that is not possible it is missing, and the metrics say why."""
    mark = RunMark(what, step, round(seconds, 3), now(), text)
    with suppress(OSError), (folder / FILE).open("ab") as file:
        file.write(json.dumps(mark._asdict()).encode() + b"\n")


def read_marks(folder: Path) -> list[RunMark]:
    """Return the marks of a run in the order of their writing; lines that are none are left out."""
    try:
        lines = (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # a run of a version that wrote none
        return []
    marks = (_mark(line) for line in lines)
    return [mark for mark in marks if mark is not None]


def trim_marks(folder: Path, step: int) -> None:
    """Drop the checkpoints after `step`, which a resumed run makes again; what was said and when it began stays."""
    if not (folder / FILE).exists():
        return
    kept = [mark for mark in read_marks(folder) if mark.step <= step or mark.what not in (SAVED, BEST)]
    write_bytes(folder / FILE, [b"".join(json.dumps(mark._asdict()).encode() + b"\n" for mark in kept)])


def now() -> str:
    """Return the time of the day to the second, with its zone."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _mark(line: str) -> RunMark | None:
    try:
        said: Any = json.loads(line)
        mark = RunMark(**said)
        datetime.fromisoformat(mark.time)
    except (ValueError, TypeError, RecursionError):
        return None
    is_fine = is_number(mark.step) and is_number(mark.seconds)
    return mark if is_fine and isinstance(mark.what, str) and isinstance(mark.text, str) else None
