"""Defenders against attackers that they never met, as a table in the docs and on the page of results."""

from pathlib import Path
from typing import Any

from garrison.bench.publish.markdown import link, markdown
from garrison.bench.publish.stored import StoredResult, load
from garrison.report.page import Page

RESULT = "limit-unmet"


def unmet_cells(scores: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table: an attacker in each row, a defender in each column."""
    columns = list(dict.fromkeys((score["rules"], score["defender"]) for score in scores))
    of = {(score["attacker"], score["rules"], score["defender"]): score for score in scores}
    rows = []
    for attacker in dict.fromkeys(score["attacker"] for score in scores):
        found = [of.get((attacker, *column)) for column in columns]
        rows.append([attacker, *("" if one is None else f"{one['value']:.1f} ± {one['margin']:.1f}" for one in found)])
    return ["attacker", *(f"{defender}, {rules}" for rules, defender in columns)], rows


def unmet_table(folder: Path) -> str:
    """Return the table in Markdown."""
    result = load(folder, RESULT)
    scores = result["rows"]
    header, rows = unmet_cells(scores)
    return markdown(
        header,
        rows,
        f"Mean returns of {scores[0]['episodes']} episodes of 100 steps with their 95 % intervals, seed",
        f"{scores[0]['seed']}: `{result['method']['command']}` ({link(RESULT)}).",
    )


def unmet_page(page: Page, result: StoredResult) -> None:
    """Show the table."""
    page.table(*unmet_cells(result["rows"]))
