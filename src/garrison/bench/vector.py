"""`garrison bench vector`: our backends and every installed peer on the same environments, in the same run.

An environment with CAGE-2's shapes and a known cost of a step, constant or uneven. Two parts: *synthetic*, every
backend at every cost and number of environments; *scaling*, our worker backends by number of workers.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from garrison import system
from garrison.bench.measure import Configuration, Measurement, Report, doubling, measure
from garrison.bench.options import Common
from garrison.bench.results import keep
from garrison.bench.synthetic import rounds_per_second
from garrison.errors import choose
from garrison.text import short

HERE = "garrison.bench.workloads"
COSTS: dict[str, tuple[float, bool]] = {
    "free": (0.0, False),
    "50 µs": (50e-6, False),
    "500 µs": (500e-6, False),
    "3 ms": (3e-3, False),
    "500 µs uneven": (500e-6, True),
    "3 ms uneven": (3e-3, True),
}
OURS = ("serial", "pipes", "shared", "async", "auto")
SCALED_ENVS = 32
NOT_BACKENDS = ("plain loop", "limit")


@dataclass(frozen=True)
class Options(Common):
    """Measure vector backends beside every installed peer."""

    part: Literal["all", "synthetic", "scaling"] = "all"
    """Which part to run."""
    envs: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N N ...")] = (20, 100, 200)
    """Numbers of environments of the synthetic part."""
    costs: Annotated[tuple[str, ...], tyro.conf.arg(metavar="COST ...")] = tuple(COSTS)
    """Costs of a synthetic step, by name."""
    repeats: int = 7
    """Fresh processes per configuration."""
    seconds: float = 1.0
    """How long each works after its warm-up."""


def main(arguments: list[str]) -> int:
    """Run the bench and print its tables; return the exit code."""
    options = tyro.cli(Options, args=arguments, prog="garrison bench vector")
    for cost in options.costs:
        choose("cost", cost, list(COSTS))
    if options.quick:
        options = replace(options, envs=(20,), costs=("500 µs",), repeats=2, seconds=0.15)
    if options.part in ("all", "synthetic"):
        report = synthetic(options)
        keep(report, options.out, "vector-synthetic")
        print_synthetic(report, options.envs, options.costs)
    if options.part in ("all", "scaling"):
        report = scaling(options)
        keep(report, options.out, "vector-scaling")
        report.print(f"{SCALED_ENVS} environments of 500 µs a step on {system.cores()} cores, by number of workers")
    return 0


def synthetic(options: Options) -> Report:
    """Measure every backend and peer for every cost and number of environments."""
    rate = rounds_per_second()
    configurations = []
    for cost in options.costs:
        seconds, uneven = COSTS[cost]
        env: dict[str, Any] = {"rounds": int(seconds * rate), "uneven": uneven}
        for num_envs in options.envs:
            for name, workload, arguments in contestants(options.quick):
                given = {"env": "synthetic", "options": env, "num_envs": num_envs, **arguments}
                configurations.append(Configuration(_key(name, num_envs, cost), f"{HERE}:{workload}", given))
    return measure(configurations, repeats=options.repeats, seconds=options.seconds, warm_up=options.seconds / 3)


def scaling(options: Options) -> Report:
    """Measure worker backends with 1, 2, 4, ... workers up to twice the cores, beside loops that never wait."""
    rounds = int(COSTS["500 µs"][0] * rounds_per_second())
    given: dict[str, Any] = {"env": "synthetic", "options": {"rounds": rounds}, "num_envs": SCALED_ENVS}
    rows = [Configuration(_key("plain loop", 1, "workers"), f"{HERE}:plain", given)]
    for workers in doubling(2 * system.cores()):
        some = given | {"workers": workers}
        if not options.quick:
            rows.append(Configuration(_key("limit", workers, "workers"), f"{HERE}:limit", some))
        for backend in ("shared",) if options.quick else ("pipes", "shared", "async"):
            name = _key(f"garrison {backend}", workers, "workers")
            rows.append(Configuration(name, f"{HERE}:ours", some | {"backend": backend}))
    return measure(rows, repeats=options.repeats, seconds=options.seconds, warm_up=options.seconds / 3)


def contestants(quick: bool = False) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (name, workload, arguments) of the bare loop, the limit, our backends and the installed peers."""
    cores = system.cores()
    found: list[tuple[str, str, dict[str, Any]]] = [("plain loop", "plain", {}), ("limit", "limit", {"workers": cores})]
    found += [(f"garrison {backend}", "ours", {"backend": backend}) for backend in OURS]
    found += [
        ("Gymnasium Sync", "gymnasium_peer", {"kind": "sync"}),
        ("Gymnasium Async, shared memory", "gymnasium_peer", {"kind": "shared"}),
        ("Gymnasium Async, pipes", "gymnasium_peer", {"kind": "pipes"}),
    ]
    if quick:  # the others take seconds to import
        return found
    if importlib.util.find_spec("stable_baselines3"):
        found += [("SB3 Dummy", "sb3_peer", {"kind": "dummy"}), ("SB3 Subproc", "sb3_peer", {"kind": "subproc"})]
    if importlib.util.find_spec("pufferlib"):
        kinds = {"serial": "Serial", "workers": "Multiprocessing", "half": "half batch", "relaxed": "half, relaxed"}
        found += [(f"PufferLib {n}", "puffer_peer", {"kind": kind, "workers": cores}) for kind, n in kinds.items()]
    return found


def print_synthetic(report: Report, sizes: Sequence[int], costs: Sequence[str]) -> None:
    """Print one table per number of environments, then who wins each cell."""
    console = _console()
    names = list(dict.fromkeys(_name(m) for m in report.measurements))
    for num_envs in sizes:
        table = Table(
            title=f"{num_envs} environments: transitions/s (share of the limit; ~: unsteady)", title_justify="left"
        )
        table.add_column("backend")
        for cost in (*costs, "barrier", "processes", "peak MB", "start s"):
            table.add_column(cost, justify="right")
        for name in names:
            row = [report[_key(name, num_envs, cost)] for cost in costs]
            limits = [report[_key("limit", num_envs, cost)].rate for cost in costs]
            cells = [_cell(m, limit) for m, limit in zip(row, limits, strict=True)]
            last = row[-1]
            barrier = f"{last.median('barrier'):.0%}" if last.samples and "barrier" in last.samples[0].facts else ""
            rest = [f"{last.median(what):.{digits}f}" for what, digits in (("processes", 0), ("peak_mb", 0))]
            table.add_row(name, *cells, barrier, *rest, f"{last.median('start_seconds'):.2f}")
        console.print(table)
    console.print(_winners(report, sizes, costs))


def _winners(report: Report, sizes: Sequence[int], costs: Sequence[str]) -> Table:
    table = Table(title="each cell: our best, auto and the best peer", title_justify="left")
    for column in ("cell", "our best", "best / peer", "auto / peer", "auto / serial", "best peer", "async / shared"):
        table.add_column(column)
    for num_envs in sizes:
        for cost in costs:
            cell = {_name(m): m for m in report.measurements if _place(m) == (num_envs, cost) and m.samples}
            mine = [m for name, m in cell.items() if name.startswith("garrison")]
            peers = [m for name, m in cell.items() if not name.startswith("garrison") and name not in NOT_BACKENDS]
            if not mine or not peers:
                continue
            best, peer = max(mine, key=lambda m: m.rate), max(peers, key=lambda m: m.rate)
            auto, serial = cell["garrison auto"].rate, cell["garrison serial"].rate
            gain = cell["garrison async"].rate / cell["garrison shared"].rate
            table.add_row(
                f"{num_envs} x {cost}",
                f"{_name(best)} {short(best.rate)}",
                f"{best.rate / peer.rate:.2f}",
                f"{auto / peer.rate:.2f}",
                f"{auto / serial:.2f}",
                f"{_name(peer)} {short(peer.rate)}",
                f"{gain:.2f}",
            )
    return table


def _console() -> Console:
    # Wide tables wrap into noise in a log file, which has no width of its own.
    console = Console()
    return console if console.is_terminal else Console(width=200)


def _cell(m: Measurement, limit: float) -> str:
    return m.brief() + (f" ({m.rate / limit:.0%})" if m.samples and limit else "")


def _key(name: str, num_envs: int, what: str) -> str:
    return f"{name} | {num_envs} | {what}"


def _name(m: Measurement) -> str:
    return m.configuration.name.split(" | ")[0]


def _place(m: Measurement) -> tuple[int, str]:
    _, num_envs, what = m.configuration.name.split(" | ")
    return int(num_envs), what
