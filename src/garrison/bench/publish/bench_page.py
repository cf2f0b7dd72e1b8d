"""The page of a folder of results: `garrison bench page DIR`, and what every suite with `--out DIR` does at its end.

A chart or table of the page is a function of `(page, result)`; its place is its name in `SECTIONS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import tyro

from garrison.bench.method.estimate import FEWEST
from garrison.bench.method.why_wide import MEANING, TITLE
from garrison.bench.publish import (
    ablation_tables,
    backend_charts,
    coinrun_pages,
    headline,
    jax_tables,
    learning_pages,
    limit_tables,
    peer_tables,
    scaling_tables,
    simulator_charts,
    training_charts,
    unmet_tables,
    user_charts,
)
from garrison.bench.publish.chart_parts import speed
from garrison.bench.publish.stored import StoredResult, compared, find, is_quick, load, measured, names, short_name
from garrison.errors import UserError, foreign
from garrison.formatting import short
from garrison.report.page import Cell, Page


class Section(NamedTuple):
    """What the page says about one result."""

    title: str
    parts: tuple[Callable[[Page, StoredResult], None], ...]


SECTIONS: dict[str, Section] = {
    "users": Section(
        "The users' own tables", (user_charts.their_tables, user_charts.beside_cyborg, user_charts.every_way)
    ),
    "users-coinrun": Section("The users' own job on CoinRun", (coinrun_pages.coinrun_rates, user_charts.their_tables)),
    "sim": Section(
        "The simulator",
        (
            simulator_charts.throughput,
            simulator_charts.thread_scaling,
            simulator_charts.batch_memory,
            simulator_charts.start_up,
            simulator_charts.beside_cyborg,
        ),
    ),
    "sim-jax": Section("The simulator in JAX", (jax_tables.both_engines,)),
    "vector-limit": Section("Our backends beside the limit", (backend_charts.share_of_limit,)),
    "vector-synthetic": Section(
        "Vector backends beside their peers",
        (
            backend_charts.share_of_limit,
            peer_tables.each_peer_page,
            backend_charts.backend_throughput,
            backend_charts.backend_costs,
        ),
    ),
    "vector-classic": Section("CartPole and Pendulum", (peer_tables.classic_page,)),
    "vector-scaling": Section("Scaling with workers", (backend_charts.scaling,)),
    "scaling": Section("How cost grows", (scaling_tables.growth,)),
    "scaling-cores": Section("Forecast beside measurement, core by core", (scaling_tables.cores_checked,)),
    "train": Section("Training", (training_charts.trainers, training_charts.time_split, training_charts.every_rate)),
    "train-jax": Section("Training in JAX", (jax_tables.every_row,)),
    "train-async": Section("Learners without a barrier", (training_charts.without_barrier,)),
    "learning": Section("Learning curves", (learning_pages.learning_curves,)),
    "record": Section("The record", (training_charts.record,)),
    ablation_tables.RESULT: Section("The record without its parts", (ablation_tables.ablation_page,)),
    unmet_tables.RESULT: Section("Attackers that no defender has met", (unmet_tables.unmet_page,)),
    "limit": Section("How good a defender can be", (limit_tables.limit_cells,)),
}
"""The results that have charts of their own, in the page's order; other results are shown as a table."""

LEAD = (
    "Measured by `garrison bench` in rounds: in each, a fresh process for every row, a warm-up thrown away. Rows that "
    "are compared work in turns of a fraction of a second, and rounds go on until the 95 % intervals of their ratios "
    "are narrow or a budget is used up. Results whose method does not say `in_turns` have ratios inside a round."
)


@dataclass(frozen=True)
class Arguments:
    """Make the page of a folder of results again."""

    folder: Annotated[Path, tyro.conf.Positional] = Path("bench")
    """Folder with the JSON files of `garrison bench ... --out FOLDER`."""


def run(arguments: Arguments) -> int:
    """Write the page and say where it is."""
    print(f"wrote {write_page(arguments.folder)}")
    return 0


def write_page(folder: Path) -> Path:
    """Write index.html into the folder."""
    with foreign(f"a result in {folder}"):
        page = build_page(folder)
    return page.write(folder / "index.html")


def build_page(folder: Path) -> Page:
    """Return the page of all results in the folder."""
    found = {name: load(folder, name) for name in names(folder)}
    if not found:
        raise UserError(f"no results in {folder}: garrison bench all --out {folder} measures them.")
    page = Page("Garrison's benches", LEAD)
    quick = [name for name, result in found.items() if is_quick(result)]
    if quick:
        said = f"{', '.join(quick)} ran with `--quick`, so few and short repeats."
        page.note(f"A quick look, not for publication: {said}")
    headline.first_screen(page, found)
    page.text(
        f"Hollow or pale marks are {TITLE}: {MEANING}. Tables have such rows apart, with the reason. "
        "Rest the pointer on a mark to see its number."
    )
    for name in [*SECTIONS, *(name for name in found if name not in SECTIONS)]:
        if name in found:
            section = SECTIONS.get(name, Section(name.replace("-", " ").capitalize(), ()))
            page.section(section.title)
            if command := found[name].get("method", {}).get("command"):
                page.code(command)
            for part in section.parts:
                part(page, found[name])
            _every_row(page, found[name])
    _machines(page, found)
    return page


def _every_row(page: Page, result: StoredResult) -> None:
    rows: list[list[object]] = []
    for row in result.get("results", ()):
        name = short_name(row)
        if row["error"] is not None or not row["samples"]:
            said = (row["error"] or "no result").strip().splitlines()[-1]
            rows.append([name, Cell("failed", tip=said, doubtful=True), *[""] * 8])
            continue
        base = find(measured(result), **(row.get("partner") or {}))
        ratio = [compared(row, base).times(), short_name(base)] if base else ["", ""]
        wall, cpu = (sum(sample[k] for sample in row["samples"]) for k in ("wall_seconds", "cpu_seconds"))
        numbers = [str(len(row["samples"])), f"{wall:.2f}", f"{cpu:.2f}", f"{row['start_seconds']:.2f}"]
        rows.append([name, speed(row), *ratio, *numbers, f"{row['peak_mb']:.0f}", f"{row['share_mb']:.0f}"])
    if rows:
        header = ["row", "steps/s", "ratio", "to", "rounds", "wall s", "CPU s", "start s", "peak MB", "share MB"]
        page.table(header, rows, folded=f"every row ({len(rows)})")


def _machines(page: Page, found: dict[str, StoredResult]) -> None:
    page.section(
        "Machine and method",
        "Ratios are between rows of the same run, round by round; ± reaches to the ends of a 95 % interval, and with "
        f"fewer than {FEWEST} rounds, which is too few for one, the range of the rounds stands instead. CPU time and "
        "memory are those of the whole tree of processes; peak counts pages that processes share once for each, share "
        "counts them once in all.",
    )
    machines: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, result in found.items():
        machine = result["machine"]
        facts = {key: str(machine[key]) for key in ("cpu", "cores", "memory_mb", "system", "python") if key in machine}
        versions = ", ".join(f"{package} {version}" for package, version in machine.get("versions", {}).items())
        machines.setdefault(tuple((facts | {"versions": versions}).items()), []).append(name)
    for facts_of, benches in machines.items():
        page.facts({"results": ", ".join(benches)} | dict(facts_of))
    rows = []
    for name, result in found.items():
        method, machine = result.get("method", {}), result["machine"]
        seconds = short(method["seconds"]) if "seconds" in method else ""
        rounds = str(method.get("rounds", method.get("repeats", "")))
        cells = [method.get("date", ""), rounds, method.get("budget", ""), seconds, f"{machine['load_before']:.2f}"]
        rows.append([name, *cells, str(machine.get("git") or ""), machine["sim_hash"]])
    header = ["result", "date", "rounds", "budget", "seconds each", "load before", "commit", "simulator"]
    page.table(header, rows)
