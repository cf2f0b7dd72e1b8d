"""`garrison bench limit`: how good a defender can be, cell by cell, from below and from above.

Rows (`bench/method/limit_rows.py` has their format) are kept one by one, so an interrupt costs only the one that it
hits, and a second call with the same `--out` makes only what is missing.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from garrison import system
from garrison.agents import load_agent
from garrison.bench.method.limit_rows import (
    CELLS,
    KINDS,
    LENGTHS,
    REDS,
    RULES,
    Row,
    cell_of,
    make_row,
    put,
    rows_of_evaluation,
)
from garrison.bench.method.measure import provenance
from garrison.bench.publish import stored, unmet_tables
from garrison.bench.publish.keep import keep
from garrison.bench.suites.arguments import CommonArguments
from garrison.bench.suites.search_scores import score_search
from garrison.bench.suites.truth_player import play_by_values
from garrison.bench.suites.unmet_scores import BASELINES, UNMET_EPISODES, unmet_scores
from garrison.challenge.evaluation import evaluate
from garrison.challenge.leaderboard import TABLE_RULES, leaderboard
from garrison.errors import choose
from garrison.limit.cell_bounds import LISTED, upper_bounds
from garrison.limit.weighing import action_values

NAME = "limit"
UNMET_KIND = "unmet"
QUICK_EPISODES = 200
SUFFIXES = {"leaderboard": "", "head": "-head"}
"""Of the agents' names, for each set of rules."""
CHOSEN_FROM = {"record": 2, "record-head": 1, "record-belief": 1, "record-belief-head": 1}
"""How many trainings each network was chosen from."""
NETWORKS = {"record": "record", "belief": "record-belief"}
"""The kinds of rows of a network alone, and its name."""
SEARCHES = {"search-1ms": "1ms", "search": "10ms", "search-50ms": "50ms"}
"""The kinds of rows that are searched for, and their budgets."""


@dataclass(frozen=True)
class Arguments(CommonArguments):
    """Say for every cell how good a defender can be, from below and from above."""

    kinds: tuple[str, ...] = ()
    """Which rows to make: leaderboard, record, belief, search-1ms, search, search-50ms, values, ceiling, bound, and
    unmet for the scores against attackers that the defenders never met; by default all."""
    rules: tuple[str, ...] = RULES
    """Under which rules."""
    episodes: int = 10_000
    """Episodes in each cell that an agent plays."""
    seed: int = 2024
    """Of these episodes: one that no choice of an agent depended on."""
    defenders: tuple[str, ...] = ()
    """More defenders against attackers that they never met: names of agents, or folders of runs."""
    search_episodes: int = 1000
    """Episodes in each cell of agents that take milliseconds for a decision; at most `episodes`."""
    listed: int = LISTED
    """User hosts, 0 to 3, on which Meander's bound counts the time of decoys: more is tighter and takes longer."""
    again: bool = False
    """Make rows again that are there already."""


Maker = Callable[[Arguments, str], Iterator[Row]]
"""Makes the rows of one kind under one set of rules, one by one."""


def leaderboard_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Return the cells of the challenge's winner, which played under one set of rules only."""
    winner = leaderboard()[0]
    for red in REDS if rules == TABLE_RULES else ():
        for length in LENGTHS:
            yield make_row(
                "leaderboard",
                (rules, red, length),
                winner.cell(red, length),
                None,
                what=f"{winner.team}, {winner.method}; as published",
                command="garrison evaluate record",
                episodes=1000,
            )


def network_rows(arguments: Arguments, rules: str, kind: str) -> Iterator[Row]:
    """Score the shipped agent of these rules."""
    name = f"{NETWORKS[kind]}{SUFFIXES[rules]}"
    flags = f"--episodes {arguments.episodes} --seed {arguments.seed}"
    found = evaluate(load_agent(name), rules=rules, episodes=arguments.episodes, seed=arguments.seed)
    yield from rows_of_evaluation(
        kind,
        found,
        what=f"`{name}`, network only" if kind == "record" else f"`{name}`, network that reads an exact belief",
        command=f"garrison evaluate {name} {flags}",
        seeds=CHOSEN_FROM[name],
    )


def search_rows(arguments: Arguments, rules: str, kind: str) -> Iterator[Row]:
    """Score the shipped agent of these rules with a search before each decision."""
    episodes = min(arguments.episodes, arguments.search_episodes)
    name, seeds = f"record-search{SUFFIXES[rules]}", CHOSEN_FROM[f"record{SUFFIXES[rules]}"]
    yield from score_search(name, rules, episodes, arguments.seed, seeds, kind, SEARCHES[kind])


def values_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Score the agent that acts by the game's values over an exact belief."""
    name = f"record-values{SUFFIXES[rules]}"
    episodes = min(arguments.episodes, arguments.search_episodes)
    found = evaluate(load_agent(name), rules=rules, episodes=episodes, seed=arguments.seed)
    yield from rows_of_evaluation(
        "values",
        found,
        what=f"`{name}`: belief, values and network, {found.milliseconds_per_decision:.1f} ms a decision",
        command=f"garrison evaluate {name} --episodes {episodes} --seed {arguments.seed}",
    )


def ceiling_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Score a defender that sees everything and plays by the values of the upper bound."""
    network = load_agent(f"record{SUFFIXES[rules]}")
    for red in REDS:
        began = process_time()
        for length in LENGTHS:
            returns, what = np.zeros(1), "doing nothing: no reward is above 0"
            if red != "sleep":
                values = action_values(rules, red)
                returns = play_by_values(values, network, red, length, arguments.episodes, arguments.seed)
                what = f"sees the true state, plays by the upper bound's values, where they tie as `{network.name}`"
            yield make_row(
                "ceiling",
                (rules, red, length),
                float(returns.mean()),
                1.96 * float(returns.std()) / math.sqrt(len(returns)),
                what=what,
                command=f"garrison bench limit --kinds ceiling --rules {rules}",
                episodes=0 if red == "sleep" else arguments.episodes,
                seconds=process_time() - began,
            )


def bound_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Bound every defender from above, by dynamic programming over all positions of the game."""
    for red in REDS:
        found = upper_bounds(rules, red, LENGTHS, arguments.listed)
        what = f"dynamic programming over {found.positions:,} positions of a defender that sees the truth"
        listed = f" --listed {arguments.listed}" if arguments.listed != LISTED else ""
        for length in LENGTHS:
            yield make_row(
                "bound",
                (rules, red, length),
                found.by_length[length],
                0.0,
                what=what if red != "sleep" else "no reward is above 0",
                command=f"garrison bench limit --kinds bound --rules {rules}{listed}",
                seconds=found.seconds,
                proven=True,
            )


MAKERS: dict[str, Maker] = {
    "leaderboard": leaderboard_rows,
    **{kind: partial(network_rows, kind=kind) for kind in NETWORKS},
    **{kind: partial(search_rows, kind=kind) for kind in SEARCHES},
    "values": values_rows,
    "ceiling": ceiling_rows,
    "bound": bound_rows,
}


def run(arguments: Arguments) -> int:
    """Make the rows that are missing, keep each at once, and print them."""
    for kind in arguments.kinds:
        choose("kind", kind, [*MAKERS, UNMET_KIND])
    for rules in arguments.rules:
        choose("rules", rules, RULES)
    if arguments.quick:
        arguments = replace(arguments, episodes=QUICK_EPISODES, listed=0)
    result = load_or_begin(arguments.out)
    rows: list[Row] = result["rows"]
    for kind in [kind for kind in MAKERS if kind in (arguments.kinds or MAKERS)]:
        for rules in arguments.rules:
            cells = {cell for cell in CELLS if cell[0] == rules}
            there = {cell_of(row) for row in rows if row["kind"] == kind}
            if cells <= there and not arguments.again:
                continue
            for row in MAKERS[kind](arguments, rules):
                put(rows, row)
                print(text_of(row), flush=True)
            keep(arguments.out, NAME, result)
    if not arguments.kinds or UNMET_KIND in arguments.kinds:
        score_unmet(arguments)
    return 0


def score_unmet(arguments: Arguments) -> None:
    """Score the shipped agents, and some that learned nothing, against attackers that they never met."""
    result = load_or_begin(arguments.out, unmet_tables.RESULT)
    known: list[dict[str, Any]] = [] if arguments.again else result["rows"]
    episodes = min(arguments.episodes, UNMET_EPISODES)
    for rules in arguments.rules:
        ours = [f"{name}{SUFFIXES[rules]}" for name in NETWORKS.values()]
        defenders = (*ours, *BASELINES, *arguments.defenders)
        for score in unmet_scores(defenders, rules, episodes, arguments.seed, known):
            known.append(score)
            shown = f"{score['value']:.2f} ± {score['margin']:.2f}"
            print(f"{rules}, {score['attacker']}: {score['defender']} {shown}", flush=True)
        result["rows"] = known
        keep(arguments.out, unmet_tables.RESULT, result)


def load_or_begin(out: Path | None, name: str = NAME) -> dict[str, Any]:
    """Return the result of this name in the folder, to go on with it, or an empty one."""
    begun: dict[str, Any] = {"machine": system.facts(), "method": provenance(), "rows": []}
    if out is not None and (out / f"{name}.json").exists():
        begun["rows"] = stored.load(out, name)["rows"]
    return begun


def text_of(row: Row) -> str:
    """Return a row as a line for the terminal."""
    margin = "" if row["margin"] is None else f" ± {row['margin']:.2f}"
    cell = f"{row['rules']}, {row['red']}, {row['length']} steps"
    return f"{cell}: {KINDS[row['kind']]} {row['value']:.2f}{margin}   ({row['what']})"
