"""Tables on training: trainers and learners beside each other, the users' figures, the record, workflows."""

import json
from pathlib import Path
from statistics import median
from typing import Any

from garrison.bench.method.labels import GARRISON, LIMIT, PRODUCTS
from garrison.bench.publish.apart import line, markdown_apart, row_line, times_line
from garrison.bench.publish.markdown import link, markdown, source
from garrison.bench.publish.stored import (
    by,
    compared,
    facts,
    find,
    load,
    measured,
    need,
    over,
    rate,
    select,
    share,
    short_name,
)
from garrison.bench.publish.user_rows import HEADER, beside, known
from garrison.challenge.leaderboard import TABLE_RULES, leaderboard
from garrison.formatting import clock, short

LEARNERS, ORDERS, WORKFLOW_COST = "learners/comparison", "workflow/orders", "workflow/cost"
RANKS = (10, 1)
"""Of the leaderboard, whose passing the record's table tells."""


def train_table(folder: Path) -> str:
    """Return the trainers' table: each beside Stable-Baselines3 on the same job in the same run."""
    result = load(folder, "train")
    rows = measured(result)
    lines = []
    for row in select(rows, cost=None):
        labels = row["labels"]
        job = {key: labels[key] for key in ("hidden", "minibatch") if key in labels}
        base = find(rows, who="Stable-Baselines3", **job)
        if labels["who"] != PRODUCTS:
            lines.append(times_line(row, base))
    ours, bound = (need(rows, who=who, hidden=64) for who in (GARRISON, PRODUCTS))
    parallel = by(select(rows, cost="1 ms"), "backend")
    split = ", ".join(f"{stage} {part:.0%}" for stage, part in facts(ours).items() if part >= 0.01)
    return markdown_apart(
        ("training on native CAGE-2", "steps/s", "times Stable-Baselines3"),
        lines,
        result,
        "End to end: acting, stepping and learning, four epochs; 1,024 environments x 100 steps unless said. The",
        "compiled trainer's (64x64) speed, of that of the matrix products of every sample alone:",
        f"{share(ours, bound)}; its time: {split}. Times as fast on Python environments of 1 ms per step with 4",
        f"workers x 8 as with 32 in sequence: {over(parallel['shared'], parallel['serial'])}.",
        source(result, "train"),
    )


def async_table(folder: Path) -> str:
    """Return the learners without a barrier beside PPO, on native CAGE-2 and on uneven Python environments."""
    result = load(folder, "train-async")
    rows = measured(result)
    limit = need(rows, env="uneven", who=LIMIT)
    lines = [row_line((short_name(row), rate(row), ""), row) for row in select(rows, env="native")]
    for row in select(rows, env="uneven"):
        part = compared(row, limit)
        lines.append(line((short_name(row), rate(row), part.share()), part))
    return markdown_apart(
        ("", "steps/s", "share of the limit"),
        lines,
        result,
        "End to end: acting, stepping and learning. Native: CAGE-2's compiled batch. Uneven: Python environments of",
        "about 1 ms with log-normal step times, 16 for each core; the plain loop and the limit only step, the limit",
        "with one loop per core, and wait for nobody.",
        source(result, "train-async"),
    )


def users_table(folder: Path) -> str:
    """Return every figure of the users beside ours, with the ratio."""
    result = load(folder, "users")
    machines = "; ".join(f"{project}: {machine}" for project, machine in result["measured_on"].items())
    return markdown_apart(
        HEADER,
        beside(known(result["tables"])),
        result,
        "The same way: our CAGE-2 as a Python environment behind our backend of that kind; native: the compiled batch.",
        f"Theirs are what their documents say ({machines}), so a ratio is",
        "that of code and machine together; the page names each figure's file and what else differs.",
        source(result, "users"),
        left=2,
    )


def record_table(folder: Path) -> str:
    """Return the record: each run's official total, its time, and when it passed the leaderboard's ranks."""
    result = load(folder, "record")
    ranked = {row.rank: row for row in leaderboard()}
    lines = []
    for run in result["runs"]:
        score = run["evaluation"]
        marks = [_mark(run, str(rank)) for rank in RANKS]
        if score["rules"] != TABLE_RULES:
            marks = ["other rules"] * len(RANKS)
        total = f"{score['total']:.2f} ± {score['ci95']:.2f}"
        command = f"`garrison train {run['preset']} --seed {run['seed']}`"
        lines.append((command, total, _minutes(run["seconds"]), *marks))
    passed = [f"passed rank {rank} ({ranked[rank].total:.2f})" for rank in RANKS]
    first = result["runs"][0]["evaluation"]
    presets = dict.fromkeys(run["preset"] for run in result["runs"])
    return markdown(
        ("command", "official total", "trained in", *passed),
        lines,
        *(_median_and_worst(preset, result["runs"]) for preset in presets),
        f"From scratch on {result['machine']['cores']} cores, {first['episodes']} episodes per cell with the seed",
        f"{first['seed']}, evaluations during training included in the times:",
        f"`{result['method']['command']}` ({link('record')}).",
    )


def _mark(run: dict[str, Any], rank: str) -> str:
    steps = run["passed_steps"][rank]
    return "not passed" if steps is None else f"{_minutes(run['passed'][rank])}, {steps / 1e6:.1f} M steps"


def _median_and_worst(preset: str, runs: list[dict[str, Any]]) -> str:
    runs = [run for run in runs if run["preset"] == preset]
    totals = sorted(run["evaluation"]["total"] for run in runs)
    said = f"`{preset}`: median {median(totals):.2f}, worst {totals[0]:.2f} of {len(totals)} seeds"
    times = [run["passed"]["1"] for run in runs if run["evaluation"]["rules"] == TABLE_RULES]
    if not times or None in times:
        return f"{said}."
    return f"{said}; rank 1 was passed after {median(times):.0f} s (median; at the latest {max(times):.0f} s)."


def learners_table(folder: Path) -> str:
    """Return what each learner reached in the same wall time."""
    rows = _read(folder, LEARNERS)
    lines = []
    for row in rows:
        total = "" if row["total"] is None else f"{row['total']:.2f} ± {row['ci95']:.2f}"
        numbers = (f"{row['final_return']:.1f}", short(row["steps"]), short(row["steps_per_second"]))
        lines.append((f"`{row['run']}`", total, *numbers))
    seconds = f"{rows[0]['seconds']:.0f}"
    return markdown(
        ("preset", "official total", "return at the end", "steps", "steps/s"),
        lines,
        f"{seconds} s of training each, one after the other, one seed: `garrison race",
        f"{' '.join(row['run'] for row in rows)} --duration {seconds}s`",
        f"({link(LEARNERS)}, [page](benchmarks/{LEARNERS}.html)).",
    )


def orders_table(folder: Path) -> str:
    """Return the best and the worst of the 120 orders, and how many comply."""
    result = _read(folder, ORDERS)
    ranked = sorted(result["orders"], key=lambda row: -row["reward"])
    lines = []
    for rank in (*range(1, 6), *range(len(ranked) - 2, len(ranked) + 1)):
        row = ranked[rank - 1]
        reward = f"{row['reward']:.2f} ± {row['reward_ci95']:.2f}"
        compliance = f"{row['compliance']:.3f} ± {row['compliance_ci95']:.3f}"
        lines.append((str(rank), row["units"], reward, compliance, f"{row['fixes']:.1f}"))
    threshold = result["settings"]["workflow"]["compliance_threshold"]
    complying = sum(row["compliance"] >= threshold for row in ranked)
    machine = result["machine"]
    return markdown(
        ("rank", "order", "environment reward", "compliance", "fixes"),
        lines,
        f"{len(ranked)} orders in {_minutes(result['seconds'])}, {result['episodes']:,} episodes; {complying} of them",
        f"reach the threshold of {threshold:g}. `garrison workflow search --method exhaustive` on",
        f"{machine['cores']} cores of an {machine['cpu']}; all orders: {link(ORDERS)}.",
        left=2,
    )


def workflow_cost_table(folder: Path) -> str:
    """Return the throughput that a workflow leaves, relative to none."""
    result = load(folder, WORKFLOW_COST)
    found = by(result["results"], "workflow", "envs")
    sizes = list(dict.fromkeys(envs for _, envs in found))
    ways = [way for way in dict.fromkeys(way for way, _ in found) if way != "none"]
    return markdown(
        ("workflow", *(f"batch of {envs:,}" for envs in sizes)),
        [(way, *(f"{found[way, envs]['ratio']:.1%}" for envs in sizes)) for way in ways],
        "Throughput relative to the same batch without a workflow; a second batch without one is the control.",
        f"Medians of {result['method']['rounds']} rounds on {result['machine']['cores']} cores:",
        f"`garrison bench sim --workflow` ({link(WORKFLOW_COST)}).",
    )


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text())


def _minutes(seconds: float | None) -> str:
    return "not passed" if seconds is None else f"{clock(seconds)} min"
