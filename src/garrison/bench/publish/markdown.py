"""Tables of the README and the docs, and the sentence that says where one comes from."""

from collections.abc import Iterable, Sequence
from typing import Any

from garrison.bench.method.estimate import FEWEST
from garrison.bench.publish.stored import StoredResult
from garrison.formatting import plural


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], *text: str, left: int = 1) -> str:
    """Return a table whose first `left` columns are text and stand left, and sentences below it."""
    sides = ["---"] * left + ["---:"] * (len(header) - left)
    lines = [f"| {' | '.join(header)} |".replace("|  |", "| |"), f"|{'|'.join(sides)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, *(["", " ".join(text)] if text else [])])


def source(result: StoredResult, name: str) -> str:
    """Return the sentence that says where a table comes from."""
    machine, method = result["machine"], result["method"]
    return (
        f"`{method['command']}` on {machine['cores']} cores of an {machine['cpu']}, "
        f"Python {machine['python']}; {how(method)} ({link(name)})."
    )


def how(method: dict[str, Any]) -> str:
    """Return what the numbers of a table are, from the method of its run."""
    rounds = method.get("rounds", method["repeats"])
    if rounds < FEWEST:
        return f"{plural(rounds, 'round')} of fresh processes, too few for an interval"
    shared = "over the same turns" if method.get("in_turns") else "inside a round"
    return f"up to {plural(rounds, 'round')} of fresh processes, 95 % intervals, ratios taken {shared}"


def link(name: str) -> str:
    """Return a link to a result's file, as seen from the repository's root."""
    return f"[benchmarks/{name}.json](benchmarks/{name}.json)"
