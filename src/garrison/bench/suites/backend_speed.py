"""`garrison bench vector`: our backends and every installed peer on the same environments, in the same run.

An environment with CAGE-2's shapes and a known cost per step, constant or uneven. Four parts: *limit*, our backends
at every cost and number of environments beside bare loops; *synthetic*, the same with every peer; *scaling*, our worker
backends by number of workers; *classic*, CartPole and Pendulum, which others have as compiled batches.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple

import tyro

from garrison import system
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import BARRIER, GARRISON, LIMIT, LOOP, Labels, name_of
from garrison.bench.method.measure import doubling, measure
from garrison.bench.method.measurement import BenchResult, Measurement
from garrison.bench.method.partners import pair
from garrison.bench.method.terminal import print_table
from garrison.bench.publish.apart import print_apart
from garrison.bench.publish.keep import keep
from garrison.bench.publish.stepping_tables import BACKENDS_HEADER, WINNERS, shares_of_limit, winners
from garrison.bench.publish.stored import measured
from garrison.bench.suites import classic_control, peer_vectors
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.bench.synthetic import rounds_per_second
from garrison.errors import choose

STEPPING = "garrison.bench.suites.stepping"
COSTS: dict[str, tuple[float, bool]] = {
    "free": (0.0, False),
    "50 µs": (50e-6, False),
    "500 µs": (500e-6, False),
    "3 ms": (3e-3, False),
    "500 µs uneven": (500e-6, True),
    "3 ms uneven": (3e-3, True),
}
"""Name to (seconds per step, whether they vary)."""
BACKENDS = ("serial", "pipes", "shared", "joint", "async", "auto")
SCALED_ENVS = 32
BESIDE_LIMIT, SYNTHETIC, SCALING = "vector-limit", "vector-synthetic", "vector-scaling"
"""Names of the results."""


@dataclass(frozen=True)
class Arguments(MeasuringArguments):
    """Measure vector backends beside every installed peer."""

    part: Literal["all", "limit", "synthetic", "scaling", "classic"] = "all"
    """Which part to run; all leaves out limit, whose rows are among those of synthetic."""
    envs: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N N ...")] = (20, 100, 200)
    """How many environments are stepped, beside the limit and beside peers; each number is measured."""
    costs: Annotated[tuple[str, ...], tyro.conf.arg(metavar="COST ...")] = tuple(COSTS)
    """Costs of a synthetic step, by name."""
    seconds: float = 1.0
    """How long each works after its warm-up."""


class Contestant(NamedTuple):
    """Who takes part in every cell."""

    labels: Labels
    workload: str
    """"module:function"."""
    arguments: dict[str, Any]
    most_envs: int | None = None
    """With more environments it is left out."""


def run(arguments: Arguments) -> int:
    """Measure, print the tables and keep the results."""
    for cost in arguments.costs:
        choose("cost", cost, list(COSTS))
    if arguments.quick:
        arguments = replace(arguments, envs=(20,), costs=("500 µs",), seconds=0.15)
    if arguments.part == "limit":
        record = _cells(arguments, BESIDE_LIMIT, ours()).record()
        keep(arguments.out, BESIDE_LIMIT, record)
        print_apart("shares of the limit", BACKENDS_HEADER, shares_of_limit(measured(record)), record)
    if arguments.part in ("all", "synthetic"):
        for said in () if arguments.quick else peer_vectors.missing():
            print(said)
        result = _cells(arguments, SYNTHETIC, contestants(arguments.quick))
        record = result.record()
        keep(arguments.out, SYNTHETIC, record)
        for num_envs in arguments.envs:
            print_cells(result, num_envs, arguments.costs)
        print_apart("ratios of steps/s", WINNERS, winners(measured(record)), record)
    if arguments.part in ("all", "scaling"):
        result = scaling(arguments)
        keep(arguments.out, SCALING, result.record())
        result.print(f"{SCALED_ENVS} environments of 500 µs per step on {system.cores()} cores, by number of workers")
    if arguments.part in ("all", "classic"):
        for said in classic_control.missing():
            print(said)
        result = _measure(classic_control.rows(arguments.quick), arguments, classic_control.RESULT)
        keep(arguments.out, classic_control.RESULT, result.record())
        result.print("Gymnasium's CartPole and Pendulum, beside EnvPool's")
    return 0


def _cells(arguments: Arguments, name: str, contestants: Sequence[Contestant]) -> BenchResult:
    """Measure contestants for every cost and number of environments."""
    rate = rounds_per_second()
    rows = []
    for cost in arguments.costs:
        seconds, uneven = COSTS[cost]
        options = {"rounds": int(seconds * rate), "uneven": uneven}
        for num_envs in arguments.envs:
            for labels, workload, more, most_envs in contestants:
                if most_envs is not None and num_envs > most_envs:
                    continue
                given = {"env": "synthetic", "options": options, "num_envs": num_envs, **more}
                place = {"envs": num_envs, "cost": cost}
                rows.append(Configuration(labels | place, workload, given))
    rows = pair(rows, lambda labels: [{"who": LIMIT, "envs": labels["envs"], "cost": labels["cost"]}])
    return _measure(rows, arguments, name)


def scaling(arguments: Arguments) -> BenchResult:
    """Measure worker backends with 1, 2, 4, ... workers up to twice the cores, beside loops that never wait."""
    rounds = int(COSTS["500 µs"][0] * rounds_per_second())
    given: dict[str, Any] = {"env": "synthetic", "options": {"rounds": rounds}, "num_envs": SCALED_ENVS}
    rows = [Configuration({"who": LOOP}, f"{STEPPING}:plain", given)]
    for workers in doubling(2 * system.cores()):
        some = given | {"workers": workers}
        if not arguments.quick:
            rows.append(Configuration({"who": LIMIT, "workers": workers}, f"{STEPPING}:limit", some))
        for backend in ("shared",) if arguments.quick else ("pipes", "shared", "joint", "async"):
            labels = {"who": GARRISON, "backend": backend, "workers": workers}
            rows.append(Configuration(labels, f"{STEPPING}:ours", some | {"backend": backend}))
    return _measure(pair(rows, lambda _: [{"who": LOOP}]), arguments, SCALING)


def _measure(rows: Sequence[Configuration], arguments: Arguments, name: str) -> BenchResult:
    return measure(rows, arguments.rounds(name, quick=2), seconds=arguments.seconds, warm_up=arguments.seconds / 3)


def ours() -> list[Contestant]:
    """Return the bare loop, the limits and our backends."""
    cores = system.cores()
    found = [
        Contestant({"who": LOOP}, f"{STEPPING}:plain", {}),
        Contestant({"who": LIMIT}, f"{STEPPING}:limit", {"workers": cores}),
        Contestant({"who": BARRIER}, f"{STEPPING}:barrier", {"workers": cores}),
    ]
    for name in BACKENDS:
        found.append(Contestant({"who": GARRISON, "backend": name}, f"{STEPPING}:ours", {"backend": name}))
    return found


def contestants(quick: bool = False) -> list[Contestant]:
    """Return ours and the installed peers."""
    cores = system.cores()
    found = ours()

    def add(who: str, rows: dict[str, str], workload: str, more: dict[str, Any], most_envs: int | None = None) -> None:
        for name, kind in rows.items():
            found.append(Contestant({"who": who, "backend": name}, workload, {"kind": kind} | more, most_envs))

    ways = {"Sync": "sync", "Async, shared memory": "shared", "Async, pipes": "pipes"}
    add("Gymnasium", ways, f"{STEPPING}:gymnasium_peer", {})
    if not quick and importlib.util.find_spec("stable_baselines3"):  # these take seconds to import
        add("SB3", {"Dummy": "dummy", "Subproc": "subproc"}, f"{STEPPING}:sb3_peer", {})
    for peer in () if quick else peer_vectors.PEERS:
        if importlib.util.find_spec(peer.module):
            workers = {"workers": cores} if peer.has_workers else {}
            add(peer.who, peer.rows, f"{peer_vectors.HERE}:{peer.workload}", workers, peer.most_envs)
    return found


def print_cells(result: BenchResult, num_envs: int, costs: Sequence[str]) -> None:
    """Print every backend at this number of environments, one column per cost."""
    lines = []
    for labels in _ways(result, num_envs):
        row = [m for cost in costs if (m := result.find(**labels, envs=num_envs, cost=cost))]
        limits = [result.find(who=LIMIT, envs=num_envs, cost=cost) for cost in costs]
        cells = [_cell(m, limit) for m, limit in zip(row, limits, strict=True)]
        last = row[-1]
        rest = [f"{last.median(what):.0f}" for what in ("processes", "peak_mb")]
        lines.append((name_of(labels), *cells, *rest, f"{last.median('start_seconds'):.2f}"))
    title = f"{num_envs} environments: steps/s (share of the limit)"
    print_table(title, ("backend", *costs, "processes", "peak MB", "start s"), lines)


def _ways(result: BenchResult, num_envs: int) -> list[Labels]:
    """Return who was measured with this number of environments: some are left out where they are many."""
    found: list[Labels] = []
    for m in result.measurements:
        if m.labels["envs"] == num_envs and _way(m) not in found:
            found.append(_way(m))
    return found


def _way(m: Measurement) -> Labels:
    return {key: value for key, value in m.labels.items() if key not in ("envs", "cost")}


def _cell(m: Measurement, limit: Measurement | None) -> str:
    part = m.over(limit)
    return m.headline() + (f" ({part.share()})" if part else "")
