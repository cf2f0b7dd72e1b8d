"""The rows "with search" of `garrison bench limit`: the record's network with a search before each decision."""

from collections.abc import Iterator

from garrison.agents import load_agent
from garrison.agents.search_settings import DEFAULT_BUDGET
from garrison.bench.method.limit_rows import Row, rows_of_evaluation
from garrison.challenge.evaluation import evaluate


def score_search(
    searching: str, rules: str, episodes: int, seed: int, seeds: int, kind: str = "search", budget: str = DEFAULT_BUDGET
) -> Iterator[Row]:
    """Score an agent that searches.

    Args:
        searching: its name.
        rules: the rules that are played.
        episodes: in each cell.
        seed: of the episodes.
        seeds: how many trainings its network was chosen from.
        kind: of the rows.
        budget: how hard it searches.
    """
    name = f"{searching}@{budget}"
    found = evaluate(load_agent(name), rules=rules, episodes=episodes, seed=seed)
    yield from rows_of_evaluation(
        kind,
        found,
        what=f"`{name}`: network and search, {found.milliseconds_per_decision:.1f} ms a decision",
        command=f"garrison evaluate {name} --episodes {episodes} --seed {seed}",
        seeds=seeds,
    )
