"""Our CybORG shows what the original shows: dicts, action spaces, rewards and the generator, from the seed alone.

The recordings are of the unmodified original: `tests/helpers/cyborg_recorder.py` plays at random on both sides and
against every agent of the challenge, and looks at everything after each step. It plays the same here, on ours.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from garrison.cage2.names import RULES
from tests.helpers import cyborg_recorder

GOLDEN = Path(__file__).parents[1] / "golden"


def recorded(rules: str) -> list[dict[str, Any]]:
    games: list[dict[str, Any]] = json.loads(gzip.decompress((GOLDEN / f"dicts_{rules}.json.gz").read_bytes()))
    return games


def played(rules: str, episodes: int) -> list[dict[str, Any]]:
    """Play in a process of its own: the package named CybORG is for nobody else in this one."""
    command = ["cyborg", "run", "--rules", rules, cyborg_recorder.__file__, "-", str(episodes)]
    done = subprocess.run([sys.executable, "-m", "garrison", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    games: list[dict[str, Any]] = json.loads(done.stdout)
    return games


def compare(rules: str, episodes: int) -> dict[str, int]:
    """Compare the first episodes of every game; return how many steps each side played at random."""
    steps = dict.fromkeys(("Blue", "Red"), 0)
    for theirs, ours in zip(recorded(rules), played(rules, episodes), strict=True):
        assert ours["game"] == theirs["game"]
        player, _, _, _, length, each = theirs["game"]
        count = 1 + min(length, episodes) * (1 + each)  # constructed, then each episode's reset and steps
        for number, (their_look, our_look) in enumerate(zip(theirs["looks"][:count], ours["looks"], strict=True)):
            for name, shown in their_look.items():
                assert our_look[name] == shown, f"{rules}, game {theirs['game']}, look {number}: {name}"
            assert list(our_look) == list(their_look)
        if player != "-":
            steps[player.split()[0]] += min(length, episodes) * each
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_everything_that_the_original_shows_is_shown(rules: str) -> None:
    assert min(compare(rules, 1).values()) >= 300


@pytest.mark.long
@pytest.mark.parametrize("rules", RULES)
def test_whole_recordings_are_shown_again(rules: str) -> None:
    assert min(compare(rules, 100).values()) >= 2000
