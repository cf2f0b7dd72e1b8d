"""`garrison bench users`: what our users measured, run again on this code.

On CAGE-2: sequentially, in one process, through pipes, shared memory, ready-first and compiled, from 1 to 200
environments, and their trainers with the same numbers of environments; CybORG itself as well where it can be imported.
On CoinRun (`coinrun_speed`): their own PPO job. Beside each figure of theirs (`user_figures`) stand ours and the ratio.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from garrison import system
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import GARRISON, Labels
from garrison.bench.method.measure import measure
from garrison.bench.method.measurement import BenchResult
from garrison.bench.method.partners import pair
from garrison.bench.publish.apart import print_apart
from garrison.bench.publish.coinrun_rows import HEADER as COINRUN_HEADER
from garrison.bench.publish.coinrun_rows import beside_roofline
from garrison.bench.publish.keep import keep
from garrison.bench.publish.stored import StoredRow, compared, estimated, find, is_steady, measured
from garrison.bench.publish.user_rows import HEADER, beside, known
from garrison.bench.suites import coinrun_speed, training_speed
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.bench.suites.training_envs import CAGE2_OPTIONS
from garrison.bench.suites.user_figures import (
    CLUSTER,
    COINRUN_FIGURES,
    FIGURES,
    MACHINES,
    WORKFLOW,
    UserFigure,
    ppo,
    way,
)

ENV_IDS = {GARRISON: "garrison/CAGE2-v0", "CybORG": "garrison/CybORG-v0"}
EVERY_WAY = (1, 20, 100, 200)
SCALED = (10, 25, 50)
STEPPING = "garrison.bench.suites.stepping"
TRAINED = 3.0  # times as long as a row that only steps
COINRUN_TIMEOUT = 600.0  # seconds: an update takes many on a busy machine
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "sequential": ("plain", {}),
    "pipes": ("ours", {"backend": "pipes"}),
    "shared memory": ("ours", {"backend": "shared"}),
    "in-process batch": ("ours", {"backend": "serial"}),
    "async": ("ours", {"backend": "async"}),
    "native": ("ours", {"backend": "native"}),
}


@dataclass(frozen=True)
class Arguments(MeasuringArguments):
    """Run the users' own tables again, each figure of theirs beside ours."""

    seconds: float = 0.5
    """How long each works after its warm-up; trainers work three times as long, on CoinRun whole updates."""
    part: Literal["all", "cage2", "coinrun"] = "all"
    """What to measure: their tables on CAGE-2, their PPO job on CoinRun, or both."""
    their_code: Path | None = None
    """A clone of the users' project rl-cluster-benchmark: adds their own trainers to the rows on CoinRun."""


def run(arguments: Arguments) -> int:
    """Measure, print theirs beside ours and keep the results."""
    if arguments.part == "coinrun":
        system.require("procgen")
    if arguments.part in ("all", "cage2"):
        _run_cage2(arguments)
    if arguments.part in ("all", "coinrun"):
        if said := system.missing("procgen"):
            print(f"CoinRun is left out: {said}")
        else:
            _run_coinrun(arguments)
    return 0


def _run_cage2(arguments: Arguments) -> None:
    seconds = 0.15 if arguments.quick else arguments.seconds
    rows = pair([*stepping(arguments.quick), *training(arguments.quick)], partners)
    result = measure(rows, arguments.rounds("users", quick=2), seconds=seconds, warm_up=seconds / 3)
    result.print("CAGE-2 in every way that the users tried")
    tables = _print_figures(result, FIGURES)
    keep(arguments.out, "users", result.record(tables=tables, measured_on={WORKFLOW: MACHINES[WORKFLOW]}))


def _run_coinrun(arguments: Arguments) -> None:
    rows = pair(coinrun_speed.configurations(arguments.quick, arguments.their_code), coinrun_speed.partners)
    seconds = 0.1 if arguments.quick else TRAINED * arguments.seconds
    # At least one update warms up and one is measured, however long they take.
    rounds = arguments.rounds("users-coinrun", quick=1)
    result = measure(rows, rounds, seconds=seconds, warm_up=0.1, timeout=COINRUN_TIMEOUT)
    result.print("CoinRun, the users' own job: frames/s, acting, stepping and learning")
    record = result.record()
    print_apart("frames/s", COINRUN_HEADER, beside_roofline(measured(record)), record)
    tables = _print_figures(result, COINRUN_FIGURES)
    keep(arguments.out, "users-coinrun", result.record(tables=tables, measured_on={CLUSTER: MACHINES[CLUSTER]}))


def _print_figures(result: BenchResult, figures: Sequence[UserFigure]) -> list[dict[str, Any]]:
    record = result.record()
    tables = compare(measured(record), figures)
    print_apart("theirs and ours, steps/s", HEADER, beside(known(tables)), record, left=2)
    return tables


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
        rows.append(Configuration(ppo(backend, num_envs), f"{training_speed.OURS}:ppo", given, longer=TRAINED))
    return rows


def partners(labels: Labels) -> list[Labels]:
    """Return what a row can be compared with: CybORG with ours, every other with one environment in sequence."""
    if "learner" in labels:
        return [ppo("serial", 1)]
    if labels["who"] != GARRISON:
        return [labels | {"who": GARRISON}]
    return [way("sequential", 1), way("in-process batch", labels["envs"])]


def compare(rows: Sequence[StoredRow], figures: Sequence[UserFigure]) -> list[dict[str, Any]]:
    """Return every figure of theirs beside ours, as plain values; what was not measured is None."""
    return [
        {
            "table": figure.table,
            "what": figure.what,
            "theirs": list(figure.theirs),
            "same_way": _value(rows, figure.same_way),
            "native": _value(rows, figure.native),
            "is_ratio": figure.is_ratio,
            "source": figure.source,
            "note": figure.note,
        }
        for figure in figures
    ]


def _value(rows: Sequence[StoredRow], wanted: Labels | tuple[Labels, Labels] | None) -> dict[str, Any] | None:
    every = wanted if isinstance(wanted, tuple) else (wanted,)
    found = [row for labels in every if labels and (row := find(rows, **labels))]
    if len(found) < len(every):
        return None
    if len(found) == 1:
        return estimated(found[0])._asdict() | {"steady": is_steady(found[0])}
    ratio = compared(found[0], found[1])
    return ratio._asdict() | {"steady": ratio.is_narrow}
