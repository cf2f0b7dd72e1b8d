"""Our CybORG shows what the original shows: dicts, action spaces, rewards and the generator, from the seed alone.

The recordings are of the unmodified original: `tests/helpers/cyborg_games.py` plays at random on both sides and against
every agent of the challenge, and looks at everything after each step. It plays the same here, on ours.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from garrison.cage2.names import RULES
from tests.helpers import cyborg_games

GOLDEN = Path(__file__).parents[1] / "golden"


def recorded(rules: str) -> list[dict[str, Any]]:
    games: list[dict[str, Any]] = json.loads(gzip.decompress((GOLDEN / f"dicts_{rules}.json.gz").read_bytes()))
    return games


def played(rules: str) -> list[dict[str, Any]]:
    """Play in a process of its own: the package named CybORG is for nobody else in this one."""
    command = [sys.executable, "-m", "garrison", "cyborg", "run", "--rules", rules, cyborg_games.__file__, "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    games: list[dict[str, Any]] = json.loads(done.stdout)
    return games


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_everything_that_the_original_shows_is_shown(rules: str) -> None:
    steps = dict.fromkeys(("Blue", "Red"), 0)
    for theirs, ours in zip(recorded(rules), played(rules), strict=True):
        assert ours["game"] == theirs["game"]
        for number, (their_look, our_look) in enumerate(zip(theirs["looks"], ours["looks"], strict=True)):
            for name, shown in their_look.items():
                assert our_look[name] == shown, f"{rules}, game {theirs['game']}, look {number}: {name}"
            assert list(our_look) == list(their_look)
        player = theirs["game"][0].split()[0]
        if player in steps:
            steps[player] += theirs["game"][4] * theirs["game"][5]
    assert min(steps.values()) >= 2000
