"""What a person sees while a run goes: a live view on a terminal, plain lines elsewhere, nothing when quiet."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self

from garrison.learn import stages
from garrison.text import clock, short

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

LINE_EVERY = 10.0  # seconds between plain lines
BAR = 28
NUMBERS = {
    "policy loss": "policy_loss",
    "value loss": "value_loss",
    "entropy": "entropy",
    "KL": "approx_kl",
    "clipped": "clip_fraction",
    "rate": "learning_rate",
    "policy lag": "policy_lag",
}
SMOOTH = 0.9  # weight of the past in the shown speed and time split


@dataclass(frozen=True)
class Title:
    """What a view says about the run as a whole."""

    name: str
    details: str
    folder: str
    marks: Mapping[str, float]
    """Known scores on the same task, by name"""


class View(Protocol):
    """Shows a run."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Take the metrics of an update, and the share of the run that is done."""

    def say(self, text: str) -> None:
        """Show a sentence that must not be missed."""


def make_view(title: Title, quiet: bool) -> View:
    """Choose a view for the place that the output goes to."""
    if quiet:
        return QuietView()
    return LiveView(title) if sys.stdout.isatty() else PlainView(title)


class NoView:
    """Nothing at all."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Show nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""


class QuietView(NoView):
    """Only what must not be missed."""

    def say(self, text: str) -> None:
        """Print to the error stream."""
        print(text, file=sys.stderr, flush=True)


class PlainView(QuietView):
    """A line every ten seconds, for logs."""

    def __init__(self, title: Title) -> None:
        self.title = title
        self._last = -LINE_EVERY
        self._clock = Clock()

    def __enter__(self) -> Self:
        print(f"{self.title.name}: {self.title.details}", flush=True)
        if self.title.marks:
            print("known scores: " + ", ".join(f"{name} {mark:.1f}" for name, mark in self.title.marks.items()))
        return self

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Print a line if the last one is old, or this is the end."""
        self._clock.add(row, share)
        if monotonic() - self._last < LINE_EVERY and share < 1.0:
            return
        self._last = monotonic()
        score = row.get("rollout/ep_reward_mean")
        print(
            f"{100 * share:5.1f} %  {short(row['step']):>8} steps  {short(self._clock.speed):>7}/s  "
            f"return {'-' if score is None else f'{score:.2f}':>9}  entropy {row.get('train/entropy', 0.0):.2f}  "
            f"{clock(self._clock.left)} left{self._clock.largest()}",
            flush=True,
        )


class LiveView(QuietView):
    """A panel that is redrawn in place."""

    def __init__(self, title: Title, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self.title = title
        self._clock = Clock()
        self._row: Mapping[str, float] = {}
        self._share = 0.0
        self._note = "compiling and warming up"
        self._live = Live(
            console=console or Console(), get_renderable=self._panel, refresh_per_second=4, transient=False
        )

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._note = ""
        self._live.__exit__(None, None, None)

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Take the newest metrics; the panel redraws itself."""
        self._clock.add(row, share)
        self._row, self._share = row, share
        if self._note.startswith("compiling"):
            self._note = ""

    def say(self, text: str) -> None:
        """Print above the panel and keep it in the panel's last line."""
        self._note = text
        self._live.console.print(text, style="yellow", highlight=False)

    def _panel(self) -> "RenderableType":
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        parts: list[Any] = [Text(self.title.details, style="dim"), self._progress(), Text()]
        if self._row:
            parts += [self._score(), Text(), self._numbers(), Text(), self._split()]
        else:
            parts.append(Text(self._note, style="dim"))
        heading = Text(self.title.name, style="bold")
        return Panel(Group(*parts), title=heading, title_align="left", subtitle=self.title.folder, width=80)

    def _progress(self) -> Any:
        from rich.text import Text

        return Text.assemble(
            (bar(self._share, 24), "cyan"),
            f" {100 * self._share:5.1f} %   ",
            (f"{short(self._row.get('step', 0))} steps", "bold"),
            f"   {short(self._clock.speed)}/s   {clock(self._clock.left)} left",
        )

    def _score(self) -> Any:
        """The mean return among known scores, best first."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        score = self._row.get("rollout/ep_reward_mean")
        rows = [(mark, name, "dim") for name, mark in self.title.marks.items()]
        if score is not None:
            rows.append((score, "this run, last 100 episodes", "bold green"))
        best = max((mark for mark, _, _ in rows), default=0.0)
        worst = min((mark for mark, _, _ in rows), default=0.0)
        for mark, name, style in sorted(rows, reverse=True):
            length = (mark - best) / (worst - best) if worst < best else 0.0
            table.add_row(f"{mark:>10.2f}", f"{name:<28}", bar(length, BAR, trough=" "), style=style)
        return table

    def _numbers(self) -> Any:
        from rich.table import Table

        table = Table.grid(padding=(0, 3))
        cells = [(name, self._row.get(f"train/{metric}")) for name, metric in NUMBERS.items()]
        known = [(name, f"{value:.3g}") for name, value in cells if value is not None]
        table.add_row(*(name for name, _ in known), style="dim")
        table.add_row(*(value for _, value in known))
        return table

    def _split(self) -> Any:
        from rich.text import Text

        line, legend = Text(), Text()
        for stage, share in self._clock.split.items():
            if round(share * 60):
                line.append("█" * round(share * 60), stages.colour(stage))
            if share >= 0.005:
                legend.append(f"{stages.label(stage)} {100 * share:.0f} %   ", stages.colour(stage))
        return line + "\n" + legend


class Clock:
    """Speed, time split and time left, smoothed."""

    def __init__(self) -> None:
        self.speed = 0.0
        self.left = 0.0
        self._stages: dict[str, float] = {}
        self._first: tuple[float, float] | None = None

    def add(self, row: Mapping[str, float], share: float) -> None:
        """Take the newest metrics."""
        speed = row.get("time/fps", 0.0)
        self.speed = SMOOTH * self.speed + (1 - SMOOTH) * speed if self.speed else speed
        for stage, seconds in stages.from_metrics(row).items():
            self._stages[stage] = SMOOTH * self._stages.get(stage, seconds) + (1 - SMOOTH) * seconds
        elapsed = row["time/elapsed_time"]
        if self._first is None:
            self._first = (elapsed, share)  # the first update compiles, so it says nothing about the rest
        then, before = self._first
        done = share - before
        self.left = (elapsed - then) / done * (1.0 - share) if done > 0 else 0.0

    def largest(self) -> str:
        """Name the two stages that take the most time, for the end of a line."""
        return "".join(f"  {stages.label(stage)} {100 * share:.0f} %" for stage, share in [*self.split.items()][:2])

    @property
    def split(self) -> dict[str, float]:
        """The share of each stage, largest first."""
        total = sum(self._stages.values()) or 1.0
        return {s: t / total for s, t in sorted(self._stages.items(), key=lambda item: -item[1])}


def bar(share: float, width: int, trough: str = "░") -> str:
    """Return a bar of blocks.

    >>> bar(0.5, 4)
    '██░░'
    """
    full = round(max(0.0, min(1.0, share)) * width)
    return "█" * full + trough * (width - full)
