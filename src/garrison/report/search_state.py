"""Whether a search of orders goes on, how it ended, or that it was killed: from its lock, its results and its marks."""

import json
from pathlib import Path
from typing import Any

from garrison.report.run_state import KILLED, RUNNING, RunState, is_newer
from garrison.report.search_history import RESULTS, STATE
from garrison.runs.marks import read_marks
from garrison.storage.lock import holder


def is_search(path: Path) -> bool:
    """Return whether a folder holds a search."""
    return (path / STATE).is_file()


def state_of_search(path: Path) -> RunState:
    """Return how a search is, as far as its folder tells."""
    who = holder(path)
    return ending_of_search(path) if who is None else RunState(RUNNING, f"It is being written by {who}.")


def ending_of_search(path: Path) -> RunState:
    """Return how a search that nobody writes any more has ended."""
    results = read_results(path)
    if "ended" not in results or not is_newer(results.get("ended_at"), read_marks(path)):
        command = f"garrison workflow search --resume {path}"
        return RunState(KILLED, f"It was stopped before it could say how it ended: go on with `{command}`.")
    word = "interrupted" if results["ended"] == "interrupted" else "finished"
    return RunState(word, f"It ended because {results.get('ended_because', 'it was over')}.")


def read_results(path: Path) -> dict[str, Any]:
    """Return what a search has written at its end; empty if that cannot be read."""
    try:
        found = json.loads((path / RESULTS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return dict(found) if isinstance(found, dict) else {}
