"""What the record presets reach without their parts, and with others, for documents and for the page."""

from pathlib import Path
from statistics import median
from typing import Any

from garrison.bench.publish.markdown import link, markdown
from garrison.bench.publish.stored import StoredResult, load
from garrison.report.page import Page

RESULT = "record-ablation"
HEADER = ("what", "median", "worst", "best", "B_line (median)", "Meander (median)")


def ablation_table(folder: Path) -> str:
    """Return the table of a document."""
    result = load(folder, RESULT)
    return markdown(HEADER, _lines(result), f"{_basis(result)}: `{result['method']['command']}` ({link(RESULT)}).")


def ablation_page(page: Page, result: StoredResult) -> None:
    """Show the same on the page."""
    page.table(HEADER, _lines(result), caption=_basis(result))


def _lines(result: StoredResult) -> list[tuple[str, ...]]:
    scores: dict[str, list[dict[str, Any]]] = {}
    for run in result["runs"]:
        scores.setdefault(f"`{run['preset']}`, {run['variant']}", []).append(run["evaluation"])
    return [(what, *_numbers(found)) for what, found in scores.items()]


def _numbers(scores: list[dict[str, Any]]) -> list[str]:
    """Return the median, worst and best total, and the medians of what each attacker's cells add up to."""
    totals = [score["total"] for score in scores]
    parts = [median([_cost(score, red) for score in scores]) for red in ("bline", "meander")]
    return [f"{number:.2f}" for number in (median(totals), min(totals), max(totals), *parts)]


def _cost(score: dict[str, Any], red: str) -> float:
    return sum(float(cell["mean"]) for cell in score["cells"] if cell["red"] == red)


def _basis(result: StoredResult) -> str:
    runs = result["runs"]
    seeds, score = len({run["seed"] for run in runs}), runs[0]["evaluation"]
    steps = f"{runs[0]['steps'] / 1e6:.1f} million steps"
    return (
        f"Official totals of {seeds} seeds each, {steps}, {score['episodes']} episodes per cell, seed {score['seed']}"
    )
