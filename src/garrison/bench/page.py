"""The page of a folder of results: `garrison bench page DIR`, and what every bench with `--out DIR` does at its end.

It is made from the JSON files and nothing else, so the same files give the same bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.bench import page_learning, page_speed
from garrison.bench.measure import STEADY
from garrison.bench.results import Result, is_quick, is_steady, load, measured, names, rate
from garrison.errors import UserError
from garrison.report.page import Cell, Page
from garrison.text import short

SECTIONS: dict[str, tuple[str, Callable[[Page, Result], None]]] = {
    "users": ("The users' own tables", page_learning.users),
    "sim": ("The simulator", page_speed.simulator),
    "vector-synthetic": ("Vector backends", page_speed.backends),
    "vector-scaling": ("Scaling with workers", page_speed.scaling),
    "train": ("Training", page_learning.train),
    "train-async": ("Learners without a barrier", page_learning.asynchronous),
    "record": ("The record", page_learning.record),
}
"""The results that have a section of their own: its title, and what draws it; other results are shown as a table."""

LEAD = (
    "Measured by `garrison bench`: a fresh process for every repeat, a warm-up thrown away, repeats of all rows "
    "interleaved; medians, with the range of the repeats."
)


@dataclass(frozen=True)
class Options:
    """Make the page of a folder of results anew."""

    folder: Annotated[Path, tyro.conf.Positional] = Path("bench")
    """Folder with the JSON files of `garrison bench ... --out FOLDER`."""


def main(arguments: list[str]) -> int:
    """Write the page and say where it is."""
    options = tyro.cli(Options, args=arguments, prog="garrison bench page")
    print(f"wrote {write(options.folder)}")
    return 0


def write(folder: Path) -> Path:
    """Write index.html into the folder."""
    return build(folder).write(folder / "index.html")


def build(folder: Path) -> Page:
    """Return the page of all results in the folder."""
    found = {name: load(folder, name) for name in names(folder)}
    if not found:
        raise UserError(f"no results in {folder}: garrison bench all --out {folder} measures them.")
    page = Page("Garrison's benches", LEAD)
    quick = [name for name, result in found.items() if is_quick(result)]
    if quick:
        page.note(
            f"A quick look, not for publication: {', '.join(quick)} ran with `--quick`, so few and short repeats."
        )
    page.text(
        f"~ and hollow or pale marks: the repeats spread by more than {STEADY:.0%}, so the number cannot be quoted. "
        "Rest the pointer on a mark to see its number."
    )
    _headlines(page, found)
    for name in [*SECTIONS, *(name for name in found if name not in SECTIONS)]:
        if name in found:
            title, draw = SECTIONS.get(name, (name.replace("-", " ").capitalize(), _nothing_special))
            page.section(title)
            _command(page, found[name])
            draw(page, found[name])
            _every_row(page, found[name])
    _machines(page, found)
    return page


def _headlines(page: Page, found: dict[str, Result]) -> None:
    """Name our quickest row of each result, and its number only if it is steady enough to be quoted."""
    rows = []
    for name, result in found.items():
        ours = [row for row in measured(result).values() if _is_ours(row["name"])]
        if ours:
            best = max(ours, key=lambda row: float(row["steps_per_second"]))
            rows.append([name, best["name"].replace(" | ", ", "), rate(best) if is_steady(best) else "unsteady"])
    if rows:
        page.table(["result", "our quickest row", "steps/s"], rows)


def _is_ours(name: str) -> bool:
    peers = ("CybORG", "MiniCAGE", "Gymnasium", "SB3", "Stable-Baselines3", "SBX", "PufferLib", "CleanRL")
    return not name.startswith((*peers, "plain loop", "limit", "matrix products")) and "CybORG" not in name


def _command(page: Page, result: Result) -> None:
    if command := result.get("method", {}).get("command"):
        page.code(command)


def _nothing_special(page: Page, result: Result) -> None:
    """Leave a result without a section of its own to its table."""


def _every_row(page: Page, result: Result) -> None:
    rows = []
    for row in result.get("results", ()):
        name = row["name"].replace(" | ", ", ")
        if row["error"] is not None or not row["samples"]:
            said = (row["error"] or "no result").strip().splitlines()[-1]
            rows.append([name, Cell("failed", tip=said, doubtful=True), "", "", "", "", "", ""])
            continue
        spread = "" if row["spread"] is None else f"{row['spread']:.0%}"
        wall, cpu = (sum(sample[k] for sample in row["samples"]) for k in ("wall_seconds", "cpu_seconds"))
        speed = Cell(rate(row), tip=f"{len(row['samples'])} repeats", doubtful=not is_steady(row))
        memory = [f"{row['peak_mb']:.0f}", f"{row['share_mb']:.0f}"]
        rows.append([name, speed, spread, f"{wall:.2f}", f"{cpu:.2f}", f"{row['start_seconds']:.2f}", *memory])
    if rows:
        header = ["row", "steps/s", "spread", "wall s", "CPU s", "start s", "peak MB", "share MB"]
        page.table(header, rows, folded=f"every row ({len(rows)})")


def _machines(page: Page, found: dict[str, Result]) -> None:
    page.section(
        "Machine and method",
        "Ratios are between rows of the same run. Spread: interquartile range over the median, or the full range with "
        "fewer than four repeats. CPU time and memory are those of the whole tree of processes; peak counts pages that "
        "processes share once for each, share counts them once in all.",
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
        cells = [method.get("date", ""), str(method.get("repeats", "")), seconds, f"{machine['load_before']:.2f}"]
        rows.append([name, *cells, str(machine.get("git") or ""), machine["sim_hash"]])
    header = ["result", "date", "repeats", "seconds each", "load before", "commit", "simulator"]
    page.table(header, rows)
