"""What a person sees while a run goes: a live view on a terminal, plain lines elsewhere, nothing when quiet."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self

from garrison.formatting import clock, short
from garrison.learn import stages
from garrison.runs.characters import bar, fit, on_scale, rows_of, sparkline
from garrison.runs.interrupts import SilentInterrupts

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

LINE_EVERY = 10.0  # seconds between plain lines
FRAME = 4  # columns of the panel's border and padding
GAP = "   "
SCORE = "rollout/ep_reward_mean"
COMPILING = "getting ready; the first time, kernels are compiled for about ten seconds"
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
        self._is_over = False
        self._clock = Clock()

    def __enter__(self) -> Self:
        print(f"{self.title.name}: {self.title.details}", flush=True)
        if self.title.marks:
            print("known scores: " + ", ".join(f"{name} {mark:.1f}" for name, mark in self.title.marks.items()))
        print(COMPILING, flush=True)
        return self

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Print a line if the last one is old, or this is the end; several updates may be at the end of the time."""
        self._clock.add(row, share)
        if monotonic() - self._last < LINE_EVERY and (share < 1.0 or self._is_over):
            return
        self._last, self._is_over = monotonic(), share >= 1.0
        score = row.get(SCORE)
        print(
            f"{100 * share:5.1f} %  {short(row['step']):>8} steps  {short(self._clock.speed):>7}/s  "
            f"return {'-' if score is None else f'{score:.2f}':>9}  entropy {row.get('train/entropy', 0.0):.2f}  "
            f"{'  '.join([*self._clock.remaining(), *self._clock.largest()])}",
            flush=True,
        )


class LiveView(QuietView):
    """A panel that is redrawn in place, as wide as the terminal."""

    def __init__(self, title: Title, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self.title = title
        self._clock = Clock()
        self._began = monotonic()
        self._row: Mapping[str, float] = {}
        self._share = 0.0
        self._scores: list[float] = []
        self._note = COMPILING
        self._console = console or Console()
        self._echo = SilentInterrupts()
        self._live = Live(console=self._console, get_renderable=self._panel, refresh_per_second=4, transient=False)

    def __enter__(self) -> Self:
        self._echo.__enter__()
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._note = ""
        self._live.__exit__(None, None, None)
        self._echo.__exit__()

    def show(self, row: Mapping[str, float], share: float) -> None:
        """Take the newest metrics; the panel redraws itself."""
        self._clock.add(row, share)
        self._row, self._share = row, share
        if SCORE in row:
            self._scores.append(row[SCORE])
        if self._note == COMPILING:
            self._note = ""

    def say(self, text: str) -> None:
        """Print above the panel and keep it in the panel's last line."""
        self._note = text
        self._console.print(text, style="yellow", highlight=False)

    @property
    def _width(self) -> int:
        return self._console.width - FRAME

    def _panel(self) -> "RenderableType":
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        details = fit(self.title.details.split(", "), self._width, ", ")
        parts: list[Any] = [Text(details, style="dim"), self._progress(), Text()]
        if self._row:
            parts += [self._score(), Text(), self._numbers(), Text(), self._split()]
        else:
            parts.append(Text(self._note, style="dim"))
        heading = Text(self.title.name, style="bold")
        return Panel(Group(*parts), title=heading, title_align="left", subtitle=self.title.folder)

    def _progress(self) -> Any:
        from rich.text import Text

        elapsed = self._row.get("time/elapsed_time", monotonic() - self._began)
        numbers = [f"{short(self._row['step'])} steps", f"{short(self._clock.speed)}/s"] if self._row else []
        words = "   ".join(
            [f"{100 * self._share:.1f} %", *numbers, f"{clock(elapsed)} elapsed", *self._clock.remaining()]
        )
        return Text.assemble((bar(self._share, max(8, self._width - 3 - len(words))), "cyan"), f"   {words}")

    def _score(self) -> Any:
        """The mean return among known scores, best first, and its way until now."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        rows = [(mark, name, "dim") for name, mark in self.title.marks.items()]
        if self._scores:
            rows.append((max(self._scores), "best so far", "green"))
        if SCORE in self._row:
            rows.append((self._row[SCORE], "this run, last 100 episodes", "bold green"))
        table = Table.grid(padding=(0, 2))
        lengths = on_scale([mark for mark, _, _ in rows])
        width = max(8, self._width - 10 - 28 - 4)
        for (mark, name, style), length in sorted(zip(rows, lengths, strict=True), reverse=True):
            table.add_row(f"{mark:>10.2f}", f"{name:<28}", bar(length, width, trough=" "), style=style)
        return Group(table, Text(f"{'return':>10}  {sparkline(self._scores, self._width - 12)}", style="green"))

    def _numbers(self) -> Any:
        from rich.text import Text

        cells = [(name, self._row.get(f"train/{metric}")) for name, metric in NUMBERS.items()]
        known = [(name, f"{value:.3g}") for name, value in cells if value is not None]
        cells_of = {name.ljust(len(value)): value.ljust(len(name)) for name, value in known}
        lines = Text()
        for names in rows_of([*cells_of], self._width, GAP):
            lines.append(GAP.join(names) + "\n", "dim")
            lines.append(GAP.join(cells_of[name] for name in names) + "\n")
        lines.rstrip()
        return lines

    def _split(self) -> Any:
        from rich.text import Text

        line, named = Text(), {}
        for stage, share in self._clock.split.items():
            line.append("█" * round(share * self._width * 0.8), stages.colour(stage))
            if share >= 0.005:
                named[f"{stages.label(stage)} {100 * share:.0f} %"] = stages.colour(stage)
        legend = Text(fit([*named], self._width, GAP))
        for entry, colour in named.items():
            legend.highlight_words([entry], colour)
        return line + "\n" + legend


class Clock:
    """Speed, time split and time left, smoothed."""

    def __init__(self) -> None:
        self.speed = 0.0
        self.left: float | None = None
        """Seconds; None until two updates have told the speed."""
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
        self.left = (elapsed - then) / done * (1.0 - share) if done > 0 else None

    def remaining(self) -> list[str]:
        """Return how much time is left, as a word or none."""
        return [] if self.left is None else [f"{clock(self.left)} left"]

    def largest(self) -> list[str]:
        """Name the two stages that take the most time, for the end of a line."""
        return [f"{stages.label(stage)} {100 * share:.0f} %" for stage, share in [*self.split.items()][:2]]

    @property
    def split(self) -> dict[str, float]:
        """The share of each stage, largest first."""
        total = sum(self._stages.values()) or 1.0
        return {s: t / total for s, t in sorted(self._stages.items(), key=lambda item: -item[1])}
