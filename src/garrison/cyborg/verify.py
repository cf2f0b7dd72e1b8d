"""`garrison cyborg run --verify N`: a script's first episodes, played again in the original CybORG and compared."""

import json
import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from garrison.cage2.cyborg import INSTALL
from garrison.cyborg import replay
from garrison.errors import GarrisonError, UserError


def find_original(given: str, ours: Path, target: list[str]) -> Path:
    """Return the folder that holds the original's package: the one given, or where the script would find it."""
    if given:
        if not (Path(given) / "CybORG" / "__init__.py").is_file():
            raise UserError(f"{given} holds no package CybORG: --original is the folder that has CybORG/__init__.py.")
        return Path(given).absolute()
    first = Path.cwd() if target[0] in ("-m", "-c") else Path(target[0]).absolute().parent
    others = [place for place in sys.path if Path(place).absolute() != ours]
    spec = PathFinder.find_spec("CybORG", [str(first), *others])
    if spec is None or spec.origin is None:
        raise UserError("--verify compares with the original CybORG, which cannot be imported.", hint=INSTALL)
    return Path(spec.origin).absolute().parents[1]


def checked_episodes(episodes: int) -> int:
    """Return how many episodes of each CybORG are compared."""
    if episodes < 1:
        raise UserError(f"--verify takes the number of episodes to compare, at least 1; got {episodes}")
    return episodes


class Verification:
    """How what a script played compares with the original.

    Args:
        played: the folder into which the script's processes wrote, see `noting`.
        rules: that the script played by.
        original: the folder with the original's package.
        ours: the folder with our package, which the original's process must not find.
        python: the interpreter for the original; "" is this one.
    """

    def __init__(self, played: Path, rules: str, original: Path, ours: Path, python: str = "") -> None:
        self._played = played
        self._rules = rules
        self._original = original
        self._ours = ours
        self._python = python or sys.executable

    def compare(self) -> str:
        """Play everything again in the original; return a sentence if all agrees, raise at the first difference."""
        played = {"episodes": 0, "steps": 0}
        for file in sorted(self._played.glob("*.jsonl")):
            found = self._replay(file)
            self._judge(found)
            played = {name: played[name] + found[name] for name in played}
        if not played["steps"]:
            return "the script played no step, so nothing was compared"
        return f"{played['episodes']} episodes, {played['steps']} steps: every observation and reward equal"

    def _judge(self, found: dict[str, Any]) -> None:
        if "rules" in found:
            raise UserError(
                f"the CybORG in {self._original} plays by the rules {found['rules']!r}, the script by {self._rules!r}.",
                hint="Choose the other with --rules, or another CybORG with --original.",
            )
        if "what" in found:
            raise GarrisonError(
                f"the original CybORG shows something else: {found['where']}, {found['what']}.\n"
                f"here:     {found['here']}\noriginal: {found['original']}"
            )

    def _replay(self, file: Path) -> dict[str, Any]:
        """Play what one process played, in a process that has the original on its path; return what it found."""
        others = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place != str(self._ours)]
        done = subprocess.run(
            [self._python, "-P", "-W", "ignore", replay.__file__, str(file), self._rules],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(self._original), *filter(None, others)])},
            cwd=file.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise GarrisonError(
                f"the original CybORG in {self._original} could not play this: {last[0]}",
                hint="If it lacks a package, install that, or name an interpreter that has it: --original-python.",
                details=done.stderr,
            )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
