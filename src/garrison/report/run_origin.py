"""Where a run comes from: what happened to it, its settings, versions, machine, command and files."""

import json
import shlex
from pathlib import Path
from typing import Any

from garrison.formatting import clock, short
from garrison.report.history import RunHistory
from garrison.report.page import Cell, Page
from garrison.report.run_facts import is_agent
from garrison.runs import marks
from garrison.runs.page_rhythm import FILE

LISTED = 30  # of what happened, the newest
TOLD = {marks.STARTED: "started", marks.RESUMED: "resumed", marks.BEST: "best score so far:", marks.SAID: ""}
FILES = {
    "config.yaml": "every setting",
    "metrics.jsonl": "one line per update",
    marks.FILE: "what happened when",
    "summary.json": "how it ended and what it scored",
    "versions.json": "what it was made with",
    "checkpoint.garrison": "the last state: `garrison evaluate` and `--resume` read it",
    "best.garrison": "the best of the scores during training",
    "error.txt": "the traceback of the failure",
}


def add_notes(page: Page, run: RunHistory) -> None:
    """Add what the run had to say, and when it began, was resumed and scored best."""
    shown = [mark for mark in run.marks if mark.what in TOLD][-LISTED:]
    warning = run.summary.get("warning")
    if not shown and not warning:
        return
    page.section("What happened")
    if warning:
        page.note(str(warning))
    if shown:
        rows = [
            [
                mark.time.replace("T", " ")[:19],
                short(mark.step),
                clock(mark.seconds),
                " ".join(filter(None, (TOLD[mark.what], mark.text))),
            ]
            for mark in shown
        ]
        page.table(["time", "step", "trained", "what"], rows)


def add_settings(page: Page, run: RunHistory) -> None:
    """Add every setting."""
    if run.settings:
        rows = [[name, _value(value)] for name, value in run.settings.items()]
        page.section("Settings").table(["setting", "value"], rows, folded=f"All {len(rows)} settings")


def _value(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)


def add_origin(page: Page, run: RunHistory) -> None:
    """Add versions, machine, command and files."""
    page.section("Made with")
    versions = _versions(run.path)
    command = versions.pop("command", None)
    if isinstance(command, list):
        page.code(shlex.join(map(str, command)))
    if versions:
        page.facts({name: value for name, value in versions.items() if value is not None})
    files: list[list[object]] = [
        [Cell(name, link=name), _size((run.path / name).stat().st_size), what]
        for name, what in FILES.items()
        if (run.path / name).is_file()
    ]
    if is_agent(run.path):
        files.append([Cell("all agents", link=f"../{FILE}"), None, "the run that this agent is of"])
    if files:
        page.table(["file", "size", "what"], files)
    if any(run.path.glob("events.out.tfevents*")):
        page.text("The same numbers in TensorBoard:")
        page.code(shlex.join(["tensorboard", "--logdir", str(run.path.resolve())]))


def _size(size: int) -> str:
    return f"{size} B" if size < 1000 else f"{short(size)}B"


def _versions(path: Path) -> dict[str, Any]:
    try:
        found = json.loads((path / "versions.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return dict(found) if isinstance(found, dict) else {}
