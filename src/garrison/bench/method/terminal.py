"""Tables on the terminal."""

from collections.abc import Collection, Iterable, Sequence

WIDTH = 180  # of a file or a pipe, which has no width of its own


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], text: Collection[str] = ()) -> None:
    """Print a table; numbers stand right, the first column and those named in `text` left."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for k, column in enumerate(header):
        table.add_column(column, justify="left" if k == 0 or column in text else "right")
    for row in rows:
        table.add_row(*row)
    console = Console()
    (console if console.is_terminal else Console(width=WIDTH)).print(table)
