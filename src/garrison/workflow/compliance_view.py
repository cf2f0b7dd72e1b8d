"""What a person sees while a training on workflows goes: the rewards apart, and the compliance."""

import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any

from garrison.formatting import short
from garrison.report.workflow_metrics import ALIGNMENT, COMPLIANCE, ENV_REWARD, EPISODES, FIXES, TOTAL
from garrison.runs.characters import bar
from garrison.runs.view import LINE_EVERY, LiveView, PlainView, QuietView, Title, View

ROWS = {"environment reward": ENV_REWARD, "alignment reward": ALIGNMENT, "sum": TOTAL, "fixes per episode": FIXES}


def make_compliance_view(title: Title, quiet: bool) -> View:
    """Choose a view for the place that the output goes to."""
    if quiet:
        return QuietView()
    return ComplianceLiveView(title) if sys.stdout.isatty() else CompliancePlainView(title)


class CompliancePlainView(PlainView):
    """A line every ten seconds, for logs."""

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Print a line if the last one is old, or this is the end."""
        self._clock.add(row, share)
        if COMPLIANCE not in row or (monotonic() - self._last < LINE_EVERY and share < 1.0):
            return
        self._last = monotonic()
        print(
            f"{100 * share:5.1f} %  {short(row[EPISODES]):>8} episodes  {short(self._clock.speed):>7} steps/s  "
            f"reward {row[ENV_REWARD]:8.2f}  alignment {row[ALIGNMENT]:6.2f}  compliance {row[COMPLIANCE]:.3f}  "
            f"{''.join(self._clock.remaining())}",
            flush=True,
        )


class ComplianceLiveView(LiveView):
    """A panel that is redrawn in place."""

    def _score(self) -> Any:
        """The parts of the reward, and the compliance as a bar."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        for name, metric in ROWS.items():
            value = self._row.get(metric)
            table.add_row(name, "-" if value is None else f"{value:9.2f}", "")
        compliance = self._row.get(COMPLIANCE)
        if compliance is not None:
            table.add_row("compliance", f"{compliance:9.3f}", bar(compliance, 28), style="bold green")
        return table
