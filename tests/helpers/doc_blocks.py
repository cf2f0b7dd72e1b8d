"""The code blocks of a text, with what comments beside them say to the tests.

`<!-- not run: REASON -->` right above a block leaves it out. `<!-- before, in tests:` and Python, up to `-->`, does
what the reader has done by then: a run that is loaded, a module that is named. A forge and the site show neither.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from garrison.runs import session
from garrison.runs.experiment import Experiment

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:^<!-- (?P<comment>not run:|before, in tests:)(?P<said>.*?)-->\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```$",
    flags=re.M | re.S,
)
SMALL = 4096
"""Steps of every run that a page trains."""


@dataclass(frozen=True)
class Block:
    """A block of a text."""

    kind: str
    code: str
    line: int
    """Where its code begins."""
    left_out: str
    """Why it is not run, or nothing."""
    before: str
    """Python that goes before it, in tests."""


def blocks(text: str) -> list[Block]:
    """Return the blocks of a text, in order."""
    return [
        Block(
            kind=found["kind"],
            code=found["code"],
            line=text.count("\n", 0, found.start("code")) + 1,
            left_out=found["said"].strip() if found["comment"] == "not run:" else "",
            before=found["said"] if found["comment"] == "before, in tests:" else "",
        )
        for found in FENCE.finditer(text)
    ]


def python_blocks(text: str) -> list[Block]:
    """Return the Python that runs."""
    return [block for block in blocks(text) if block.kind == "python" and not block.left_out]


def run_blocks(file: Path) -> None:
    """Run the Python of a text, block after block in one namespace, as a reader would who types it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in python_blocks(file.read_text()):
        exec(compile(block.before, f"{file.name}, before line {block.line}", "exec"), names)
        exec(compile("\n" * (block.line - 1) + block.code, str(file), "exec"), names)


def shorten_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every run end after a few thousand steps, whatever it was told, and leave the score by protocol out."""
    run: Callable[..., session.Outcome] = session.run

    def short(settings: Experiment, *rest: Any, **named: Any) -> session.Outcome:
        return run(settings.changed(steps=SMALL), *rest, **named)

    monkeypatch.setattr(session, "run", short)
    monkeypatch.setattr(session, "score", lambda outcome: None)
