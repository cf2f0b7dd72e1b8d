"""The scores that a run writes while it is trained, read as they come."""

import json
from pathlib import Path
from typing import BinaryIO

from garrison.storage.schema import is_number

KEYS = ("evaluation/total", "evaluation/mean")
"""The score in a row of metrics: the official total, or the mean return of whole episodes."""


class Evaluations:
    """Follows the metrics of a run.

    Args:
        path: its `metrics.jsonl`, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self.scores: list[float] = []
        """Those so far, in their order."""

    def look(self) -> list[float]:
        """Read what is new; return all scores so far."""
        try:
            file: BinaryIO = self._path.open("rb")
        except OSError:  # it has not begun
            return self.scores
        with file:
            if file.seek(0, 2) < self._at:  # a run that was resumed has dropped what came after its checkpoint
                self._at, self.scores = 0, []
            file.seek(self._at)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            if b'"evaluation/' in line and (score := _score(line)) is not None:
                self.scores.append(score)
        return self.scores


def _score(line: bytes) -> float | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = next((row[key] for key in KEYS if isinstance(row, dict) and key in row), None)
    return float(found) if found is not None and is_number(found) else None
