"""The published results in `benchmarks/`, and what is made from them: tables in the README and the docs, and the page.

`python -m garrison.bench.published` rewrites the parts between `<!-- NAME -->` and `<!-- end NAME -->` and
`benchmarks/index.html`; a test fails while they disagree with the files.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from garrison.bench import page, users
from garrison.bench.old_figures import CAGE2
from garrison.bench.results import Result, Row, brief, cells, load, measured, over, rate, share
from garrison.bench.vector import NOT_BACKENDS
from garrison.errors import UserError
from garrison.text import short

FOLDER = "benchmarks"
LEARNERS = "learners/comparison"
ORDERS = "workflow/orders"


def source(result: Result, name: str) -> str:
    """Say where a table comes from."""
    machine, method = result["machine"], result["method"]
    return (
        f"`{method['command']}` on {machine['cores']} cores of an {machine['cpu']}, "
        f"Python {machine['python']}; median of {method['repeats']} fresh processes, interleaved, ± half the "
        f"interquartile range ([benchmarks/{name}.json](benchmarks/{name}.json))."
    )


def sim_table(folder: Path) -> str:
    """Return the simulator's table: rates, and each beside CybORG in the same run."""
    result = load(folder, "sim")
    rows = measured(result)
    lines = ["| | steps/s | times CybORG |", "|---|---:|---:|"]
    base = rows.get("CybORG, meander")
    lines += [f"| {name} | {rate(row)} | {over(row, base) if base else ''} |" for name, row in rows.items()]
    start = result["startup"]
    microseconds = 1e6 / rows["garrison, one environment"]["steps_per_second"]
    threads = over(rows["garrison, batch of 10000, 2 threads"], rows["garrison, batch of 10000"])
    largest = rows["garrison, batch of 100000"]["samples"][0]["facts"]["batch_mb"]
    text = (
        "Random actions, automatic resets, observations, rewards and the true state included. "
        f"One environment takes {microseconds:.1f} µs a step; a second thread makes 10,000 environments "
        f"{threads} times as fast; 100,000 environments hold {largest:.0f} MB. `import garrison` takes "
        f"{start['import_seconds']:.2f} s, the first step {start['warm_first_step_seconds']:.1f} s, and once per "
        f"version {start['cold_first_step_seconds']:.0f} s to compile. "
    )
    return "\n".join([*lines, "", text + source(result, "sim")])


def train_table(folder: Path) -> str:
    """Return the trainers' table: each beside Stable-Baselines3 on the same job in the same run."""
    result = load(folder, "train")
    rows = measured(result)
    lines = ["| training on native CAGE-2 | steps/s | times Stable-Baselines3 |", "|---|---:|---:|"]
    for name, row in rows.items():
        if not name.startswith(("matrix", "Python")):
            base = rows.get(f"Stable-Baselines3 {name.split(' ', 1)[1].split(',')[0]}{_job(name)}")
            lines.append(f"| {name} | {rate(row)} | {over(row, base) if base else ''} |")
    bound = share(rows["garrison 64x64"], rows["matrix products 64x64"])
    parallel = over(rows["Python, 4 workers x 8"], rows["Python, 32 in sequence"])
    text = (
        "End to end: acting, stepping and learning, four epochs; 1,024 environments x 100 steps unless said. "
        f"The compiled trainer reaches {bound} of what its matrix products alone would allow. On Python "
        f"environments of 1 ms a step, PPO with 4 workers x 8 is {parallel} times as fast as with 32 in sequence. "
    )
    return "\n".join([*lines, "", text + source(result, "train")])


def _job(name: str) -> str:
    return ", minibatches of 512" if "minibatches" in name else ""


def vector_table(folder: Path) -> str:
    """Return the users' experiment: CAGE-2 in every way that they tried, at every number of environments."""
    result = load(folder, "users")
    found: dict[tuple[str, str], dict[int, Row]] = {}
    for way, size, env, row in cells(users.stepped(result)):
        if size in users.EVERY_WAY:
            found.setdefault((env, way), {})[size] = row
    sizes = sorted({size for rows in found.values() for size in rows})
    lines = [
        "| | " + " | ".join(f"{n} env{'s' if n > 1 else ''}" for n in sizes) + " |",
        "|---|" + "---:|" * len(sizes),
    ]
    for (env, way), rows in found.items():
        base = found[env, "sequential"]
        written = [f"{brief(rows[n])} ({over(rows[n], base[n])}x)" if n in rows else "" for n in sizes]
        lines.append(f"| {'our CAGE-2' if env == CAGE2 else 'CybORG'}, {way} | " + " | ".join(written) + " |")
    text = (
        "Steps/s, and in brackets times the sequential loop over the same environments in the same run; ~ where "
        "repeats spread by more than 10 %. "
    )
    return "\n".join([*lines, "", text + source(result, "users")])


def users_table(folder: Path) -> str:
    """Return every figure of the users beside ours, with the ratio."""
    result = load(folder, "users")
    lines = [
        "| their table | | theirs, steps/s | ours, the same way | times | ours, native | times |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    last = ""
    for row in (row for row in result["tables"] if row["same_way"] or row["native"]):
        name, last = ("" if row["table"] == last else row["table"]), row["table"]
        written = [name, row["what"], users.theirs(row), *users.ours(row, "same_way"), *users.ours(row, "native")]
        lines.append(f"| {' | '.join(written)} |")
    machines = "; ".join(f"{project}: {machine}" for project, machine in result["measured_on"].items())
    text = (
        "The same way: our CAGE-2 as a Python environment behind our backend of that kind; native: the compiled batch; "
        f"~ where repeats spread by more than 10 %. Theirs are what their documents say ({machines}), so a ratio is "
        "that of code and machine together; the page names each figure's file and what else differs. "
    )
    return "\n".join([*lines, "", text + source(result, "users")])


def scaling_table(folder: Path) -> str:
    """Return throughput and efficiency of the worker backends by number of workers."""
    result = load(folder, "vector-scaling")
    cores = result["machine"]["cores"]
    found: dict[str, dict[int, Row]] = {}
    for way, workers, _, row in cells(result):
        found.setdefault(way, {})[workers] = row
    one = found.pop("plain loop")[1]
    counts = sorted({n for rows in found.values() for n in rows})
    lines = ["| | " + " | ".join(_workers(n) for n in counts) + " |", "|---|" + "---:|" * len(counts)]
    for way, rows in found.items():
        shares = {n: share(row, one, min(n, cores)) for n, row in rows.items()}
        written = [f"{brief(rows[n])} ({shares[n]})" if n in rows else "" for n in counts]
        lines.append(f"| {way} | " + " | ".join(written) + " |")
    text = (
        f"Steps/s of 32 environments of 500 µs, and in brackets the share of the ideal: workers, at most the {cores} "
        f"cores, times one bare loop ({brief(one)}/s). The limit is loops that never wait for each other. "
    )
    return "\n".join([*lines, "", text + source(result, "vector-scaling")])


def peers_table(folder: Path) -> str:
    """Return, for each cost and number of environments, our backends beside the best peer."""
    result = load(folder, "vector-synthetic")
    found: dict[tuple[int, str], dict[str, Row]] = {}
    for way, size, cost, row in cells(result):
        found.setdefault((size, cost), {})[way] = row
    lines = [
        "| cell | our best / best peer | auto / best peer | auto / serial | async / shared | best of the limit |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for (size, cost), rows in sorted(found.items(), key=lambda item: item[0][0]):
        mine = {way: row for way, row in rows.items() if way.startswith("garrison")}
        peers = [row for way, row in rows.items() if way not in (*mine, *NOT_BACKENDS)]
        best, peer = (max(some, key=lambda row: float(row["steps_per_second"])) for some in (mine.values(), peers))
        auto, serial, ready, shared = (mine[f"garrison {way}"] for way in ("auto", "serial", "async", "shared"))
        name = best["name"].split(" | ")[0].removeprefix("garrison ")
        ratios = [over(best, peer) + f" ({name})", over(auto, peer), over(auto, serial), over(ready, shared)]
        lines.append(f"| {size} x {cost} | {' | '.join(ratios)} | {share(best, rows['limit'])} |")
    text = "Ratios of steps/s in the same run; ~ where repeats spread by more than 10 %, so read them as about. "
    return "\n".join([*lines, "", text + source(result, "vector-synthetic")])


def _workers(number: int) -> str:
    return f"{number} worker{'s' if number > 1 else ''}"


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


def async_table(folder: Path) -> str:
    """Return the learners without a barrier beside PPO, on native CAGE-2 and on uneven Python environments."""
    result = load(folder, "train-async")
    rows = measured(result)
    ideal = rows.get("uneven: bare loops")
    lines = ["| | steps/s | share of the bare loops |", "|---|---:|---:|"]
    for name, row in rows.items():
        of_ideal = share(row, ideal) if ideal and name.startswith("uneven") else ""
        lines.append(f"| {name} | {rate(row)} | {of_ideal} |")
    text = (
        "End to end: acting, stepping and learning. Native: CAGE-2's compiled batch. Uneven: Python environments of "
        "about 1 ms with log-normal step times, 8 in each actor; the bare loops only step, one on each core, and wait "
        "for nobody. "
    )
    return "\n".join([*lines, "", text + source(result, "train-async")])


def learners_table(folder: Path) -> str:
    """Return what each learner came to in the same wall time."""
    rows = json.loads((folder / LEARNERS).with_suffix(".json").read_text())
    lines = ["| preset | official total | return at the end | steps | steps/s |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        total = "" if row.get("official total") is None else f"{row['official total']:.2f} ± {row['± (95 %)']:.2f}"
        numbers = f"{row['last return']:.1f} | {short(row['steps'])} | {short(row['steps/s'])}"
        lines.append(f"| `{row['run']}` | {total} | {numbers} |")
    text = (
        f"{rows[0]['seconds']:.0f} s of training each, one after the other, one seed: `garrison compare "
        f"{' '.join(row['run'] for row in rows)} --duration {rows[0]['seconds']:.0f}s` "
        f"([benchmarks/{LEARNERS}.json](benchmarks/{LEARNERS}.json), [page](benchmarks/{LEARNERS}.html))."
    )
    return "\n".join([*lines, "", text])


def orders_table(folder: Path) -> str:
    """Return the best and the worst of the 120 orders, and how many comply."""
    result = json.loads((folder / ORDERS).with_suffix(".json").read_text())
    ranked = sorted(result["orders"], key=lambda row: -row["reward"])
    lines = ["| rank | order | environment reward | compliance | fixes |", "|---:|---|---:|---:|---:|"]
    for rank in (*range(1, 6), *range(len(ranked) - 2, len(ranked) + 1)):
        row = ranked[rank - 1]
        reward = f"{row['reward']:.2f} ± {row['reward_ci95']:.2f}"
        rate_ = f"{row['compliance']:.3f} ± {row['compliance_ci95']:.3f}"
        lines.append(f"| {rank} | {row['units']} | {reward} | {rate_} | {row['fixes']:.1f} |")
    threshold = result["settings"]["workflow"]["compliance_threshold"]
    complying = sum(row["compliance"] >= threshold for row in ranked)
    machine = result["machine"]
    text = (
        f"{len(ranked)} orders in {_seconds(result['seconds'])}, {result['episodes']:,} episodes; {complying} of them "
        f"reach the threshold of {threshold:g}. `garrison workflow search --method exhaustive` on {machine['cores']} "
        f"cores of an {machine['cpu']}; all orders: [benchmarks/{ORDERS}.json](benchmarks/{ORDERS}.json)."
    )
    return "\n".join([*lines, "", text])


def _seconds(seconds: float | None) -> str:
    return "not passed" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


TABLES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "sim": ("sim", sim_table),
    "train": ("train", train_table),
    "vector": ("users", vector_table),
    "users": ("users", users_table),
    "scaling": ("vector-scaling", scaling_table),
    "peers": ("vector-synthetic", peers_table),
    "record": ("record", record_table),
    "async": ("train-async", async_table),
    "learners": (LEARNERS, learners_table),
    "orders": (ORDERS, orders_table),
}
"""Name to (the result it is made from, what makes it)."""
PLACES: dict[str, tuple[str, ...]] = {
    "README.md": ("sim", "train", "users", "learners", "record"),
    "docs/performance.md": ("users", "scaling"),
    "docs/vector.md": ("peers",),
    "docs/impala.md": ("async", "learners"),
    "docs/workflow.md": ("orders",),
}
"""The tables that each text must have; any other of the tables is filled too where its marks stand."""


def fill(text: str, folder: Path, place: str) -> str:
    """Return the text of the file `place` with every table made anew from the results in `folder`."""
    for name, (result, make) in TABLES.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", flags=re.S)
        if pattern.search(text):
            table = (
                make(folder) if (folder / result).with_suffix(".json").exists() else "Not measured for publication yet."
            )
            table = table.replace("](benchmarks/", f"]({'../' * place.count('/')}benchmarks/")
            text = pattern.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
        elif name in PLACES[place]:
            raise UserError(f"{place} has no place for the table {name!r}: add <!-- {name} --> and <!-- end {name} -->")
    return text


def main(root: Path) -> None:
    """Rewrite the tables and the page of the repository at `root`."""
    for place in PLACES:
        file = root / place
        file.write_text(fill(file.read_text(), root / FOLDER, place))
    page.write(root / FOLDER)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
