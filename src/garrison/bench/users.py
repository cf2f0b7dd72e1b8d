"""`garrison bench users`: the tables that our users measured, run again on this code.

CAGE-2 sequentially, in one process, through pipes, shared memory, ready-first and compiled, from 1 to 200 environments;
their trainers with the same numbers of environments; parallel PPO against sequential PPO. Beside each figure of theirs
(`old_figures`) stand ours and the ratio. CybORG itself is measured as well where it can be imported.
"""

import importlib.util
from dataclasses import dataclass
from typing import Any

from garrison import text
from garrison.bench import train
from garrison.bench.measure import Configuration, Report, measure
from garrison.bench.old_figures import CAGE2, FIGURES, MACHINES, Old, ppo, way
from garrison.bench.options import Common
from garrison.bench.results import Result, is_steady, keep
from garrison.text import short

CYBORG = "garrison/CybORG-v0"
EVERY_WAY = (1, 20, 100, 200)
SCALED = (10, 25, 50)
HERE = "garrison.bench.workloads"
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "sequential": ("plain", {}),
    "pipes": ("ours", {"backend": "pipes"}),
    "shared memory": ("ours", {"backend": "shared"}),
    "in-process batch": ("ours", {"backend": "serial"}),
    "async": ("ours", {"backend": "async"}),
    "native": ("ours", {"backend": "native"}),
}


@dataclass(frozen=True)
class Options(Common):
    """Run the users' own tables again, each figure of theirs beside ours."""

    repeats: int = 5
    """Fresh processes per configuration."""
    seconds: float = 0.5
    """How long each works after its warm-up; trainers work three times as long."""


def main(arguments: list[str]) -> int:
    """Run the bench."""
    import tyro

    options = tyro.cli(Options, args=arguments, prog="garrison bench users", description=Options.__doc__)
    repeats, seconds = (2, 0.15) if options.quick else (options.repeats, options.seconds)
    steps = measure(stepping(options.quick), repeats=repeats, seconds=seconds, warm_up=seconds / 3)
    trained: dict[str, Any] = {"repeats": 1 if options.quick else repeats, "seconds": 3 * seconds, "warm_up": seconds}
    trainers = measure(training(options.quick), **trained)
    report = Report((*steps.measurements, *trainers.measurements), steps.machine, steps.method | {"trainers": trained})
    tables = compare({m.configuration.name: m.record() for m in report.measurements if m.samples})
    print_tables(tables)
    keep(report, options.out, "users", {"tables": tables, "measured_on": MACHINES})
    return 0


def stepping(quick: bool) -> list[Configuration]:
    """Return CAGE-2 (and CybORG, if importable) stepped with random actions in every way the users tried."""
    if quick:
        cells = [(CAGE2, name, 20) for name in WAYS if name not in ("sequential", "async")]
    else:
        cells = [(CAGE2, name, n) for n in EVERY_WAY for name in WAYS]
        cells += [(CAGE2, name, n) for n in SCALED for name in ("sequential", "shared memory", "native")]
        if importlib.util.find_spec("CybORG"):  # making one takes 0.1 s, so 200 are left to the patient
            cells += [(CYBORG, name, n) for n in (1, 20) for name in WAYS if name != "native"]
    rows = []
    for env, name, num_envs in cells:
        workload, arguments = WAYS[name]
        given = {"env": env, "options": train.CAGE2, "num_envs": num_envs, **arguments}
        rows.append(Configuration(way(name, num_envs, env), f"{HERE}:{workload}", given))
    return rows


def training(quick: bool) -> list[Configuration]:
    """Return PPO with the users' numbers of environments: 100 steps of each an update, six epochs of full batch."""
    rows = []
    many = [("native", n) for n in ((100,) if quick else (1, 10, 25, 50, 100))]
    for backend, num_envs in many if quick else [("serial", 1), ("shared", 100), *many]:
        rollout = 10_000 if num_envs == 1 else 100  # alone, it plays the hundred episodes itself
        job = {"num_envs": num_envs, "rollout": rollout, "minibatches": 1, "epochs": 6}
        given = {"job": job, "hidden": 64, "backend": backend}
        if backend != "native":
            given["env"] = CAGE2
        rows.append(Configuration(ppo(backend, num_envs), "garrison.bench.train:garrison", given))
    return [*rows, *train.parallel(quick=False)]


def compare(rows: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every figure of theirs beside ours, as plain values; what was not measured is None."""
    return [
        {
            "table": old.table,
            "what": old.what,
            "theirs": list(old.theirs),
            "same_way": _value(rows, old.same_way),
            "native": _value(rows, old.native),
            "is_ratio": isinstance(old.same_way, tuple),
            "comparable": _comparable(old),
            "source": old.source,
            "note": old.note,
        }
        for old in FIGURES
    ]


def _comparable(old: Old) -> bool:
    # Rates on different environments say nothing about each other; their ratios do.
    return isinstance(old.same_way, tuple) or not (isinstance(old.same_way, str) and old.same_way.startswith("Python"))


def _value(rows: dict[str, dict[str, Any]], name: str | tuple[str, str] | None) -> dict[str, Any] | None:
    wanted = (name,) if isinstance(name, str) else name or ()
    if not wanted or any(each not in rows for each in wanted):
        return None
    rates = [rows[each]["steps_per_second"] for each in wanted]
    value = rates[0] if len(rates) == 1 else rates[0] / rates[1]
    return {"value": value, "steady": all(is_steady(rows[each]) for each in wanted)}


def stepped(result: Result) -> Result:
    """Return a result with only the rows that step environments without training."""
    rows = [row for row in result["results"] if " | " in row["name"] and not row["name"].startswith("PPO")]
    return {**result, "results": rows}


def theirs(row: dict[str, Any]) -> str:
    """Write a figure of theirs, or its range."""
    low, high = (f"{x:.2g}" if row["is_ratio"] else f"{x:,.0f}" for x in row["theirs"])
    return low if low == high else f"{low} to {high}"


def ours(row: dict[str, Any], which: str) -> tuple[str, str]:
    """Write a figure of ours and how many times theirs it is, with ~ where the spread forbids to quote it."""
    if row[which] is None:
        return "", ""
    value, mark = row[which]["value"], "" if row[which]["steady"] else "~"
    ratio = value / (sum(row["theirs"]) / 2)
    written = f"{value:.2g}" if row["is_ratio"] else short(value)
    return mark + written, mark + text.ratio(ratio) if row["comparable"] else "–"


def print_tables(tables: list[dict[str, Any]]) -> None:
    """Print theirs, ours the same way and ours compiled, with the ratios."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="theirs and ours, steps/s (~: unsteady)", title_justify="left")
    for column in ("table", "figure", "theirs", "ours, the same way", "times", "ours, native", "times"):
        table.add_column(column, justify="left" if column in ("table", "figure") else "right")
    last = ""
    for row in tables:
        if row["same_way"] is None and row["native"] is None:
            continue
        name, last = ("" if row["table"] == last else row["table"]), row["table"]
        table.add_row(name, row["what"], theirs(row), *ours(row, "same_way"), *ours(row, "native"))
    console = Console()
    (console if console.is_terminal else Console(width=140)).print(table)
