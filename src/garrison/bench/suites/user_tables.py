"""`garrison bench users`: the tables that our users measured, run again on this code.

CAGE-2 sequentially, in one process, through pipes, shared memory, ready-first and compiled, from 1 to 200 environments;
their trainers with the same numbers of environments; parallel PPO against sequential PPO. Beside each figure of theirs
(`user_figures`) stand ours and the ratio. CybORG itself is measured as well where it can be imported.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from garrison.bench.method.arguments import CommonArguments
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import GARRISON, Labels
from garrison.bench.method.measure import BenchResult, measure
from garrison.bench.method.terminal import print_table
from garrison.bench.publish.keep import keep
from garrison.bench.publish.stored import StoredRow, find, is_steady
from garrison.bench.publish.user_rows import HEADER, beside, known
from garrison.bench.suites import training_speed
from garrison.bench.suites.training_envs import CAGE2_OPTIONS
from garrison.bench.suites.user_figures import FIGURES, MACHINES, ppo, way

ENV_IDS = {GARRISON: "garrison/CAGE2-v0", "CybORG": "garrison/CybORG-v0"}
EVERY_WAY = (1, 20, 100, 200)
SCALED = (10, 25, 50)
STEPPING = "garrison.bench.suites.stepping"
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "sequential": ("plain", {}),
    "pipes": ("ours", {"backend": "pipes"}),
    "shared memory": ("ours", {"backend": "shared"}),
    "in-process batch": ("ours", {"backend": "serial"}),
    "async": ("ours", {"backend": "async"}),
    "native": ("ours", {"backend": "native"}),
}


@dataclass(frozen=True)
class Arguments(CommonArguments):
    """Run the users' own tables again, each figure of theirs beside ours."""

    repeats: int = 5
    """Fresh processes per configuration."""
    seconds: float = 0.5
    """How long each works after its warm-up; trainers work three times as long."""


def run(arguments: Arguments) -> int:
    """Measure, print theirs beside ours and keep the result."""
    repeats, seconds = (2, 0.15) if arguments.quick else (arguments.repeats, arguments.seconds)
    steps = measure(stepping(arguments.quick), repeats=repeats, seconds=seconds, warm_up=seconds / 3)
    trained: dict[str, Any] = {"repeats": 1 if arguments.quick else repeats, "seconds": 3 * seconds, "warm_up": seconds}
    trainers = measure(training(arguments.quick), **trained)
    rows = (*steps.measurements, *trainers.measurements)
    result = BenchResult(rows, steps.machine, steps.method | {"trainers": trained})
    tables = compare([m.record() for m in rows if m.samples])
    print_table("theirs and ours, steps/s (~: unsteady)", HEADER, beside(known(tables)), text=HEADER[:2])
    keep(arguments.out, "users", result.record(tables=tables, measured_on=MACHINES))
    return 0


def stepping(quick: bool) -> list[Configuration]:
    """Return CAGE-2 (and CybORG, if importable) stepped with random actions in every way the users tried."""
    if quick:
        cells = [way(name, 20) for name in WAYS if name not in ("sequential", "async")]
    else:
        cells = [way(name, n) for n in EVERY_WAY for name in WAYS]
        cells += [way(name, n) for n in SCALED for name in ("sequential", "shared memory", "native")]
        if importlib.util.find_spec("CybORG"):  # making one takes 0.1 s, so 200 are left to the patient
            cells += [way(name, n, "CybORG") for n in (1, 20) for name in WAYS if name != "native"]
    rows = []
    for labels in cells:
        workload, arguments = WAYS[labels["way"]]
        given = {"env": ENV_IDS[labels["who"]], "options": CAGE2_OPTIONS, "num_envs": labels["envs"], **arguments}
        rows.append(Configuration(labels, f"{STEPPING}:{workload}", given))
    return rows


def training(quick: bool) -> list[Configuration]:
    """Return PPO with the users' numbers of environments: 100 steps of each per update, six epochs of full batch."""
    rows = []
    many = [("native", n) for n in ((100,) if quick else (1, 10, 25, 50, 100))]
    for backend, num_envs in many if quick else [("serial", 1), ("shared", 100), *many]:
        rollout = 10_000 if num_envs == 1 else 100  # alone, it plays the hundred episodes itself
        job = {"num_envs": num_envs, "rollout": rollout, "minibatches": 1, "epochs": 6}
        given: dict[str, Any] = {"job": job, "backend": backend}
        if backend != "native":
            given |= {"env": ENV_IDS[GARRISON], "options": CAGE2_OPTIONS}
        rows.append(Configuration(ppo(backend, num_envs), f"{training_speed.OURS}:ppo", given))
    return [*rows, *training_speed.parallel(quick=False)]


def compare(rows: Sequence[StoredRow]) -> list[dict[str, Any]]:
    """Return every figure of theirs beside ours, as plain values; what was not measured is None."""
    return [
        {
            "table": figure.table,
            "what": figure.what,
            "theirs": list(figure.theirs),
            "same_way": _value(rows, figure.same_way),
            "native": _value(rows, figure.native),
            "is_ratio": figure.is_ratio,
            "comparable": figure.is_ratio or figure.same_env,
            "source": figure.source,
            "note": figure.note,
        }
        for figure in FIGURES
    ]


def _value(rows: Sequence[StoredRow], wanted: Labels | tuple[Labels, Labels] | None) -> dict[str, Any] | None:
    every = wanted if isinstance(wanted, tuple) else (wanted,)
    found = [row for labels in every if labels and (row := find(rows, **labels))]
    if len(found) < len(every):
        return None
    rates = [row["steps_per_second"] for row in found]
    return {"value": rates[0] if len(rates) == 1 else rates[0] / rates[1], "steady": all(map(is_steady, found))}
