"""A run's page is written often enough to follow it, takes a small share of its time, and never stops it."""

from itertools import pairwise
from pathlib import Path

import pytest

from garrison.runs.page_rhythm import SECONDS, SHARE, NoPages, PageRhythm, registered_writer


class Clock:
    """A clock that drawing a page moves on."""

    def __init__(self, drawing: float) -> None:
        self.time, self.drawing = 0.0, drawing
        self.written: list[tuple[float, float | None]] = []

    def now(self) -> float:
        return self.time

    def write(self, folder: Path, seconds: float | None) -> None:
        self.written.append((self.time, seconds))
        self.time += self.drawing


def follow(clock: Clock, update: float, seconds: float) -> PageRhythm:
    """Run updates that take so long, each followed by a look, for so many seconds."""
    pages = PageRhythm([Path("run")], print, clock.write, clock.now)
    pages.write()
    while clock.time < seconds:
        clock.time += update
        pages.look()
    return pages


@pytest.mark.parametrize(("drawing", "update"), [(0.001, 0.1), (0.05, 0.1), (2.0, 0.1), (0.05, 30.0)])
def test_drawing_takes_a_small_share_of_the_time_however_long_it_takes(drawing: float, update: float) -> None:
    clock = Clock(drawing)
    follow(clock, update, 10_000.0)
    times = [time for time, _ in clock.written]
    assert len(times) > 5
    assert drawing * (len(times) - 2) <= SHARE * clock.time * 1.01 + 1e-9
    assert all(later - earlier >= SECONDS for earlier, later in pairwise(times[1:]))


def test_the_first_news_is_shown_at_once() -> None:
    clock = Clock(0.01)
    follow(clock, 0.5, 1.0)
    assert [round(time, 2) for time, _ in clock.written] == [0.0, 0.51]


def test_a_page_knows_when_the_next_is_to_be_expected() -> None:
    clock = Clock(0.01)
    pages = follow(clock, 40.0, 200.0)
    assert clock.written[-1][1] == pytest.approx(40.0)  # updates take that long, so earlier there is no news
    pages.write(is_over=True)
    assert clock.written[-1][1] is None


def test_a_page_that_fails_is_told_once_and_stops_nothing() -> None:
    said: list[str] = []

    def fail(folder: Path, seconds: float | None) -> None:
        raise ValueError("no ink")

    pages = PageRhythm([Path("run")], said.append, fail, lambda: 0.0)
    for _ in range(3):
        pages.write()
    pages.attempt(lambda: 1 / 0)
    assert said == ["the run's page could not be written (ValueError: no ink); the run goes on."]


def test_without_pages_nothing_is_made() -> None:
    made: list[int] = []
    pages = NoPages()
    pages.write()
    pages.look()
    pages.attempt(lambda: made.append(1))
    assert made == []


def test_what_is_registered_writes_pages() -> None:
    assert registered_writer().__name__ == "write_run_page"
