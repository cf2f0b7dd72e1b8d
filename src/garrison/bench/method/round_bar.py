"""What a person sees while rows are measured."""

import sys


class RoundBar:
    """A bar for each round on a terminal, nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, transient=True, disable=quiet or not sys.stderr.isatty())
        self._task = self._bar.add_task("")
        self._round = ""

    def __enter__(self) -> "RoundBar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, number: int, heats: int, wide: int) -> None:
        """Begin a round of so many heats, because so many rows are not steady."""
        self._round = f"round {number}, {wide} not steady yet: "
        self._bar.update(self._task, total=heats, completed=0)

    def show(self, what: str) -> None:
        """Say what is measured now."""
        self._bar.update(self._task, description=self._round + what)

    def advance(self) -> None:
        """Say that it is done."""
        self._bar.advance(self._task)
