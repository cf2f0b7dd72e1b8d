"""What the record presets reach without each of their parts, for documents and for the page."""

from pathlib import Path
from statistics import median

from garrison.bench.publish.markdown import link, markdown
from garrison.bench.publish.stored import StoredResult, load
from garrison.report.page import Page

RESULT = "record-ablation"
HEADER = ("what", "median", "worst", "best")


def ablation_table(folder: Path) -> str:
    """Return the table of a document."""
    result = load(folder, RESULT)
    return markdown(HEADER, _lines(result), f"{_basis(result)}: `{result['method']['command']}` ({link(RESULT)}).")


def ablation_page(page: Page, result: StoredResult) -> None:
    """Show the same on the page."""
    page.table(HEADER, _lines(result), caption=_basis(result))


def _lines(result: StoredResult) -> list[tuple[str, ...]]:
    totals: dict[str, list[float]] = {}
    for run in result["runs"]:
        totals.setdefault(f"`{run['preset']}`, {run['variant']}", []).append(run["evaluation"]["total"])
    return [(what, f"{median(all_):.2f}", f"{min(all_):.2f}", f"{max(all_):.2f}") for what, all_ in totals.items()]


def _basis(result: StoredResult) -> str:
    runs = result["runs"]
    seeds, score = len({run["seed"] for run in runs}), runs[0]["evaluation"]
    steps = f"{runs[0]['steps'] / 1e6:.1f} million steps"
    return (
        f"Official totals of {seeds} seeds each, {steps}, {score['episodes']} episodes per cell, seed {score['seed']}"
    )
