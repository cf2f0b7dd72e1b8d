"""The published results in `benchmarks/`, and the README's tables made from them.

`python -m garrison.bench.published` rewrites the parts of the README between `<!-- NAME -->` and `<!-- end NAME -->`; a
test fails while they disagree with the files.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from garrison.bench.measure import STEADY, short
from garrison.errors import UserError

Result = dict[str, Any]


def load(folder: Path, name: str) -> Result:
    """Read one published result."""
    result: Result = json.loads((folder / f"{name}.json").read_text())
    return result


def rate(row: Result) -> str:
    """Write a row's median with its spread, and its range instead where the spread is too wide for one number."""
    if row["spread"] is not None and row["spread"] <= STEADY:
        return f"{short(row['steps_per_second'])} ± {row['spread'] / 2:.0%}"
    rates = [sample["steps"] / sample["wall_seconds"] for sample in row["samples"]]
    return f"{short(min(rates))} to {short(max(rates))}"


def source(result: Result, name: str) -> str:
    """Say where a table comes from."""
    machine, method = result["machine"], result["method"]
    return (
        f"`garrison bench {name}` on {machine['cores']} cores of an {machine['cpu']}, Python {machine['python']}; "
        f"median of {method['repeats']} fresh processes, interleaved, ± half the interquartile range "
        f"([benchmarks/{name}.json](benchmarks/{name}.json))."
    )


def sim_table(folder: Path) -> str:
    """Return the simulator's table: rates, and each beside CybORG in the same run."""
    result = load(folder, "sim")
    rows = {row["name"]: row for row in result["results"] if row["error"] is None}
    base = rows["CybORG, meander"]["steps_per_second"]
    lines = ["| | steps/s | times CybORG |", "|---|---:|---:|"]
    for name, row in rows.items():
        lines.append(f"| {name} | {rate(row)} | {_times(row['steps_per_second'] / base)} |")
    start = result["startup"]
    microseconds = 1e6 / rows["garrison, one environment"]["steps_per_second"]
    one, two = (rows[f"garrison, batch of 10000{threads}"]["steps_per_second"] for threads in ("", ", 2 threads"))
    largest = rows["garrison, batch of 100000"]["samples"][0]["facts"]["batch_mb"]
    text = (
        "Random actions, automatic resets, observations, rewards and the true state included. "
        f"One environment takes {microseconds:.1f} µs a step; a second thread makes 10,000 environments "
        f"{two / one:.2f} times as fast; 100,000 environments hold {largest:.0f} MB. `import garrison` takes "
        f"{start['import_seconds']:.2f} s, the first step {start['warm_first_step_seconds']:.1f} s, and once per "
        f"version {start['cold_first_step_seconds']:.0f} s to compile. "
    )
    return "\n".join([*lines, "", text + source(result, "sim")])


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


TABLES = {"sim": sim_table}


def fill(text: str, folder: Path) -> str:
    """Return the README's text with every table made anew from the files in `folder`."""
    for name, make in TABLES.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", flags=re.S)
        if not pattern.search(text):
            raise UserError(
                f"the README has no place for the table {name!r}: add <!-- {name} --> and <!-- end {name} -->."
            )
        table = make(folder)
        text = pattern.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


def main(root: Path) -> None:
    """Rewrite the README of the repository at `root`."""
    readme = root / "README.md"
    readme.write_text(fill(readme.read_text(), root / "benchmarks"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
