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


def source(result: Result, name: str, command: str = "") -> str:
    """Say where a table comes from."""
    machine, method = result["machine"], result["method"]
    return (
        f"`garrison bench {command or name}` on {machine['cores']} cores of an {machine['cpu']}, "
        f"Python {machine['python']}; median of {method['repeats']} fresh processes, interleaved, ± half the "
        f"interquartile range ([benchmarks/{name}.json](benchmarks/{name}.json))."
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


def train_table(folder: Path) -> str:
    """Return the trainers' table: each beside Stable-Baselines3 on the same job in the same run."""
    result = load(folder, "train")
    rows = {row["name"]: row for row in result["results"] if row["error"] is None and "Python" not in row["name"]}
    lines = ["| training on native CAGE-2 | steps/s | times Stable-Baselines3 |", "|---|---:|---:|"]
    for name, row in rows.items():
        if not name.startswith("matrix"):
            base = rows[f"Stable-Baselines3 {name.split(' ', 1)[1].split(',')[0]}{_job(name)}"]["steps_per_second"]
            lines.append(f"| {name} | {rate(row)} | {_times(row['steps_per_second'] / base)} |")
    ratios = result["ratios"]
    share = ratios["garrison 64x64 as a share of its matrix products"]
    parallel = ratios["Python environments: 4 workers x 8 over 32 in sequence"]
    text = (
        "End to end: acting, stepping and learning, four epochs; 1,024 environments x 100 steps unless said. "
        f"The compiled trainer reaches {share:.0%} of what its matrix products alone would allow. On Python "
        f"environments of 1 ms a step, PPO with 4 workers x 8 is {parallel:.2f} times as fast as with 32 in sequence. "
    )
    return "\n".join([*lines, "", text + source(result, "train")])


def _job(name: str) -> str:
    return ", minibatches of 512" if "minibatches" in name else ""


def vector_table(folder: Path) -> str:
    """Return the users' experiment: CAGE-2 in every way that they tried, at every number of environments."""
    result = load(folder, "vector-cage2")
    rates: dict[tuple[str, str, int], float] = {}
    for row in result["results"]:
        way, size, env = row["name"].split(" | ")
        rates[env, way, int(size)] = row["steps_per_second"]
    sizes = sorted({size for _, _, size in rates})
    lines = [
        "| | " + " | ".join(f"{n} env{'s' if n > 1 else ''}" for n in sizes) + " |",
        "|---|" + "---:|" * len(sizes),
    ]
    for env in dict.fromkeys(env for env, _, _ in rates):
        for way in dict.fromkeys(way for e, way, _ in rates if e == env):
            cells = [
                f"{short(rates[env, way, n])} ({_times(rates[env, way, n] / rates[env, 'sequential', n])}x)"
                for n in sizes
            ]
            lines.append(f"| {_ENV_NAMES[env]}, {way} | " + " | ".join(cells) + " |")
    text = "Steps/s, and in brackets times the sequential loop over the same environments in the same run. "
    return "\n".join([*lines, "", text + source(result, "vector-cage2", "vector --part cage2")])


_ENV_NAMES = {"garrison/CAGE2-v0": "our CAGE-2", "garrison/CybORG-v0": "CybORG"}


def record_table(folder: Path) -> str:
    """Return the record: each run's official total, its time, and when it passed the leaderboard's ranks."""
    result = load(folder, "record")
    lines = [
        "| command | official total | trained in | passed rank 10 (-73.98) | passed rank 1 (-54.57) |",
        "|---|---:|---:|---:|---:|",
    ]
    for run in result["runs"]:
        score = run["evaluation"]
        tenth, first = (_seconds(run["passed"][rank]) for rank in ("10", "1"))
        if run["preset"] != "record":
            tenth = first = "other rules"
        command = f"`garrison train {run['preset']} --seed {run['seed']}`"
        total, time = f"{score['total']:.2f} ± {score['ci95']:.2f}", _seconds(run["seconds"])
        lines.append(f"| {command} | {total} | {time} | {tenth} | {first} |")
    machine = result["machine"]
    text = (
        f"From scratch on {machine['cores']} cores, 1000 episodes a cell, evaluations during training included in the "
        "times: `garrison bench record --seeds 2` ([benchmarks/record.json](benchmarks/record.json))."
    )
    return "\n".join([*lines, "", text])


def _seconds(seconds: float | None) -> str:
    return "not passed" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


TABLES = {"sim": sim_table, "train": train_table, "vector": vector_table, "record": record_table}


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
