"""Tables for people, drawn by the optional PrettyTable."""

from collections.abc import Iterable
from typing import Any

from garrison.system import require


def new_table(columns: list[str], rows: Iterable[list[Any]], sort_by: str) -> Any:
    """Return a PrettyTable; it is sorted when it is printed, its rows keep their order."""
    require("prettytable")
    from prettytable import PrettyTable

    table = PrettyTable(columns)
    for row in rows:
        table.add_row(row)
    table.sortby = sort_by
    return table
