"""`garrison bench limit`: how good a defender can be, cell by cell, from below and from above.

Rows (`bench/method/limit_rows.py` has their format) are kept one by one, so an interrupt costs only the one that it
hits, and a second call with the same `--out` makes only what is missing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from garrison import system
from garrison.agents import load_agent
from garrison.bench.method.arguments import CommonArguments
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
from garrison.bench.publish import stored
from garrison.bench.publish.keep import keep
from garrison.bench.suites.search_scores import score_search
from garrison.challenge.evaluation import evaluate
from garrison.challenge.leaderboard import TABLE_RULES, leaderboard
from garrison.errors import choose
from garrison.limit.cell_bounds import upper_bounds

NAME = "limit"
QUICK_EPISODES = 200
RECORDS = {"leaderboard": "record", "head": "record-head"}
"""The shipped agent of each set of rules."""


@dataclass(frozen=True)
class Arguments(CommonArguments):
    """Say for every cell how good a defender can be, from below and from above."""

    kinds: tuple[str, ...] = ()
    """Which rows to make: leaderboard, record, search, ceiling, bound; by default all."""
    rules: tuple[str, ...] = RULES
    """Under which rules."""
    episodes: int = 10_000
    """Episodes in each cell that an agent plays."""
    seed: int = 2024
    """Of these episodes: one that no choice of an agent depended on."""
    search_episodes: int = 1000
    """Episodes in each cell of the agent that searches, which takes milliseconds for a decision; at most `episodes`."""
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


def record_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Score the shipped agent of these rules."""
    name = RECORDS[rules]
    flags = f"--episodes {arguments.episodes} --seed {arguments.seed}"
    found = evaluate(load_agent(name), rules=rules, episodes=arguments.episodes, seed=arguments.seed)
    yield from rows_of_evaluation(
        "record", found, what=f"`{name}`, network only", command=f"garrison evaluate {name} {flags}", seeds=2
    )


def search_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Score the shipped agent of these rules with a search before each decision."""
    episodes = min(arguments.episodes, arguments.search_episodes)
    yield from score_search(RECORDS[rules], rules, episodes, arguments.seed, seeds=2)


def bound_rows(arguments: Arguments, rules: str) -> Iterator[Row]:
    """Bound every defender from above, by dynamic programming over all positions of the game."""
    for red in REDS:
        found = upper_bounds(rules, red, LENGTHS)
        what = f"dynamic programming over {found.positions:,} positions of a defender that sees the truth"
        for length in LENGTHS:
            yield make_row(
                "bound",
                (rules, red, length),
                found.by_length[length],
                0.0,
                what=what if red != "sleep" else "no reward is above 0",
                command=f"garrison bench limit --kinds bound --rules {rules}",
                seconds=found.seconds,
                proven=True,
            )


MAKERS: dict[str, Maker] = {
    "leaderboard": leaderboard_rows,
    "record": record_rows,
    "search": search_rows,
    "bound": bound_rows,
}


def run(arguments: Arguments) -> int:
    """Make the rows that are missing, keep each at once, and print them."""
    for kind in arguments.kinds:
        choose("kind", kind, list(MAKERS))
    for rules in arguments.rules:
        choose("rules", rules, RULES)
    if arguments.quick:
        arguments = replace(arguments, episodes=QUICK_EPISODES)
    result = load_or_begin(arguments.out)
    rows: list[Row] = result["rows"]
    for kind in arguments.kinds or MAKERS:
        for rules in arguments.rules:
            cells = {cell for cell in CELLS if cell[0] == rules}
            there = {cell_of(row) for row in rows if row["kind"] == kind}
            if cells <= there and not arguments.again:
                continue
            for row in MAKERS[kind](arguments, rules):
                put(rows, row)
                print(text_of(row), flush=True)
            keep(arguments.out, NAME, result)
    return 0


def load_or_begin(out: Path | None) -> dict[str, Any]:
    """Return the result in the folder, to go on with it, or an empty one."""
    begun: dict[str, Any] = {"machine": system.facts(), "method": provenance(), "rows": []}
    if out is not None and (out / f"{NAME}.json").exists():
        begun["rows"] = stored.load(out, NAME)["rows"]
    return begun


def text_of(row: Row) -> str:
    """Return a row as a line for the terminal."""
    margin = "" if row["margin"] is None else f" ± {row['margin']:.2f}"
    cell = f"{row['rules']}, {row['red']}, {row['length']} steps"
    return f"{cell}: {KINDS[row['kind']]} {row['value']:.2f}{margin}   ({row['what']})"
