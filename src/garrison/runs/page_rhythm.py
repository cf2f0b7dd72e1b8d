"""When a run's page is written: at its beginning and its end, after evaluations, and now and then in between.

Who draws the page is registered by name, because `report` lies above `runs`. A page takes no more than a small share
of a run's time, however large it becomes, and one that cannot be written never stops a run.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import monotonic

SHARE = 0.005
"""Of a run's time, at most, for its page."""
SECONDS = 5.0
"""Between two writings, at least."""
FILE = "index.html"

WritePage = Callable[[Path, float | None], object]
"""Writes the page of the run in a folder; the number is how many seconds until it is written again, None: never."""

_writer = ""


def register_page_writer(reference: str) -> None:
    """Name what writes the page of a run, a `WritePage` as `module:name`; it is imported when the first one is due."""
    global _writer
    _writer = reference


def registered_writer() -> WritePage:
    """Return what writes pages."""
    module, _, name = _writer.partition(":")
    found: WritePage = getattr(import_module(module), name)
    return found


class PageRhythm:
    """Writes the pages of a run's folders, all of them at a time.

    Args:
        folders: the run's, and those of its agents if there are several.
        say: is told once if a page cannot be written.
        write: writes one; by default what is registered.
        now: the clock.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        say: Callable[[str], None],
        write: WritePage | None = None,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._folders, self._say, self._draw, self._now = folders, say, write, now
        self._due = self._written = now()
        self._between = SECONDS
        self._has_failed = self._has_looked = False

    def look(self) -> None:
        """Write the pages if it is time; it always is at the first news."""
        if self._now() >= self._due or not self._has_looked:
            self.write()
        self._has_looked = True

    def write(self, is_over: bool = False) -> None:
        """Write the pages now; for the last time, if the run is over."""
        began = self._now()
        usual = max(self._between, began - self._written)  # an update may take longer than the time between two

        def draw_all() -> None:
            draw = self._draw = self._draw or registered_writer()
            for folder in self._folders:
                draw(folder, None if is_over else usual)

        self.attempt(draw_all)
        self._written = self._now()
        self._between = max(SECONDS, (self._written - began) / SHARE)
        self._due = self._written + self._between

    def attempt(self, make: Callable[[], object]) -> None:
        """Make something to look at; if that fails it is told, once in a run."""
        try:
            make()
        except Exception as error:  # whatever it is: a page is not worth a run
            if not self._has_failed:
                self._say(f"the run's page could not be written ({type(error).__name__}: {error}); the run goes on.")
            self._has_failed = True


class NoPages(PageRhythm):
    """For a run that is to have no page."""

    def __init__(self) -> None:
        super().__init__((), lambda text: None, lambda folder, seconds: None)

    def attempt(self, make: Callable[[], object]) -> None:
        """Make nothing."""
