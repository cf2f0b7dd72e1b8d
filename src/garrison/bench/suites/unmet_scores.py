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


def unmet_table(scores: list[Score]) -> str:
    """Return the scores as a table in Markdown: a row for each attacker, a column for each defender."""
    columns = list(dict.fromkeys((score["rules"], score["defender"]) for score in scores))
    of = {(score["attacker"], score["rules"], score["defender"]): score for score in scores}
    lines = [
        "| attacker | " + " | ".join(f"{defender}, {rules}" for rules, defender in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for attacker in dict.fromkeys(score["attacker"] for score in scores):
        found = [of.get((attacker, *column)) for column in columns]
        shown = ["" if one is None else f"{one['value']:.1f} ± {one['margin']:.1f}" for one in found]
        lines.append(f"| {attacker} | " + " | ".join(shown) + " |")
    return "\n".join(lines)
