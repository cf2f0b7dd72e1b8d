"""Defenders against attackers that they never met: has the record agent learned the game, or two opponents?"""

from collections.abc import Iterable, Iterator
from typing import Any

from garrison.agents import load_agent
from garrison.bench.suites.unmet_attackers import UNMET
from garrison.challenge.evaluation import evaluate

LENGTH = 100
UNMET_EPISODES = 1000
BASELINES = ("react-restore", "sleep")
"""Defenders that learned nothing, to compare with"""

Score = dict[str, Any]


def unmet_scores(
    defenders: Iterable[str], rules: str, episodes: int, seed: int, known: Iterable[Score] = ()
) -> Iterator[Score]:
    """Score each defender against each attacker of `UNMET` in episodes of 100 steps, but for what is `known`.

    Args:
        defenders: names of agents, or folders of runs.
        rules: `leaderboard` or `head`.
        episodes: for each pair.
        seed: decides every draw.
        known: scores that are there already.
    """
    there = {(score["rules"], score["attacker"], score["defender"]) for score in known}
    for attacker, make in UNMET.items():
        for defender in defenders:
            if (rules, attacker, defender) in there:
                continue
            found = evaluate(load_agent(defender), rules, episodes, seed, reds=[make()], lengths=[LENGTH])
            (cell,) = found.cells
            yield {
                "rules": rules,
                "attacker": attacker,
                "defender": defender,
                "value": round(cell.mean, 6),
                "margin": round(1.96 * cell.stderr, 6),
                "episodes": episodes,
                "seed": seed,
            }
