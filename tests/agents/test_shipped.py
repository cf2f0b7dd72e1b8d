"""The agents that come with the package score what is published, with nothing installed but the core."""

import subprocess
import sys

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.agents.load import SHIPPED
from garrison.challenge.evaluation import evaluate
from garrison.storage import checkpoint

CHAMPION = -54.57  # the challenge's winner, leaderboard rules
BEST_CLAIM = -58.0  # the best claim under head rules


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("record", CHAMPION),
        ("record-head", BEST_CLAIM),
        ("record-belief", CHAMPION),
        ("record-belief-head", BEST_CLAIM),
    ],
)
def test_a_shipped_agent_scores_what_is_published_and_beats_every_published_one(name: str, mark: float) -> None:
    published = checkpoint.load(SHIPPED[name])["evaluation"]
    result = evaluate(load_agent(name), published["rules"], episodes=400, seed=7)
    margin = 2 * (result.ci95**2 + published["ci95"] ** 2) ** 0.5  # about four standard errors of the difference
    assert abs(result.total - published["total"]) < margin
    assert result.total + result.ci95 > mark
    assert published["total"] - published["ci95"] > mark


@pytest.mark.parametrize("name", ["record", "record-head", "record-belief", "record-belief-head"])
def test_a_shipped_file_is_small_and_says_what_made_it(name: str) -> None:
    values = checkpoint.load(SHIPPED[name])
    sees_belief = values["experiment"]["env"].get("belief", False)
    preset = name.replace("-belief", "") + (" --belief" if sees_belief else "")
    assert sees_belief == ("-belief" in name)
    assert values["made_by"].startswith(f"garrison train {preset} --seed ")
    assert SHIPPED[name].stat().st_size < 300_000
    assert set(values["state"]) == {"weights", "steps"}


def test_playing_needs_no_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None
from garrison.agents import load_agent
from garrison.challenge.evaluation import evaluate
print(evaluate(load_agent("record"), "leaderboard", episodes=5).total < 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_an_agent_that_learned_from_regrets_expects_no_return() -> None:
    for name, has_values in (("record", False), ("record-1", True)):
        agent = load_agent(name)
        agent.begin(2)
        agent.act(np.zeros((2, 52), np.int8))
        assert (agent.explain().values is not None) == has_values
