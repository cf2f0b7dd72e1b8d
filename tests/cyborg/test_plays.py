"""Our wrappers and agents show what the original's show, through every wrapper and from the same seeds.

The digests are of lines that `tests/helpers/cyborg_plays.py` told about the unmodified original.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from garrison.cage2.names import RULES
from tests.helpers import cyborg_plays

GOLDEN = Path(__file__).parents[1] / "golden" / "cyborg_plays.json"

pytestmark = pytest.mark.slow


@cache
def played(rules: str) -> dict[str, list[str]]:
    """Play everything once, in a process of its own: the package named CybORG is for nobody else in this one."""
    pytest.importorskip("prettytable", reason="tables need PrettyTable")
    command = [sys.executable, "-m", "garrison", "cyborg", "run", "--rules", rules, cyborg_plays.__file__, rules, "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines: dict[str, list[str]] = json.loads(done.stdout)
    return lines


@pytest.mark.parametrize("play", cyborg_plays.PLAYS)
@pytest.mark.parametrize("rules", RULES)
def test_a_play_is_told_as_the_original_tells_it(rules: str, play: str) -> None:
    recorded = json.loads(GOLDEN.read_text())[rules][play]
    lines = played(rules)[play]
    ours = cyborg_plays.digests(lines)
    differing = [line for line, mine, theirs in zip(lines, ours, recorded, strict=False) if mine != theirs]
    assert differing[:1] == []
    assert len(ours) == len(recorded)
