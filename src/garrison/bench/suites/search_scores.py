"""The rows "with search" of `garrison bench limit`: the record's network with a search before each decision."""

from collections.abc import Iterator

from garrison.agents import load_agent
from garrison.agents.load import SEARCHING
from garrison.agents.search_settings import DEFAULT_BUDGET
from garrison.bench.method.limit_rows import Row, rows_of_evaluation
from garrison.challenge.evaluation import evaluate


def searching_agent(network: str) -> str:
    """Return the name of the agent that searches with this network."""
    return next(name for name, searched in SEARCHING.items() if searched == network)


def score_search(
    network: str, rules: str, episodes: int, seed: int, seeds: int, budget: str = DEFAULT_BUDGET
) -> Iterator[Row]:
    """Score the agent that searches with a shipped network.

    Args:
        network: the shipped agent's name.
        rules: the rules that are played.
        episodes: in each cell.
        seed: of the episodes.
        seeds: how many trainings the network was chosen from.
        budget: how hard it searches.
    """
    name = f"{searching_agent(network)}@{budget}"
    found = evaluate(load_agent(name), rules=rules, episodes=episodes, seed=seed)
    yield from rows_of_evaluation(
        "search",
        found,
        what=f"`{name}`: network and search, {found.milliseconds_per_decision:.1f} ms a decision",
        command=f"garrison evaluate {name} --episodes {episodes} --seed {seed}",
        seeds=seeds,
    )
