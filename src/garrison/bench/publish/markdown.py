"""Tables of the README and the docs, and the sentence that says where one comes from."""

from collections.abc import Iterable, Sequence

from garrison.bench.publish.stored import StoredResult


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], *text: str, left: int = 1) -> str:
    """Return a table whose first `left` columns are text and stand left, and sentences below it."""
    sides = ["---"] * left + ["---:"] * (len(header) - left)
    lines = [f"| {' | '.join(header)} |".replace("|  |", "| |"), f"|{'|'.join(sides)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", " ".join(text)])


def source(result: StoredResult, name: str) -> str:
    """Return the sentence that says where a table comes from."""
    machine, method = result["machine"], result["method"]
    return (
        f"`{method['command']}` on {machine['cores']} cores of an {machine['cpu']}, "
        f"Python {machine['python']}; median of {method['repeats']} fresh processes, interleaved, ± half the "
        f"interquartile range ({link(name)})."
    )


def link(name: str) -> str:
    """Return a link to a result's file, as seen from the repository's root."""
    return f"[benchmarks/{name}.json](benchmarks/{name}.json)"
