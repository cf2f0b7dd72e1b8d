"""`garrison bench NAME`: run a suite of measurements, or make the page and the published tables from stored ones."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

import tyro

from garrison.bench.suites import SUITES
from garrison.errors import choose

ABOUT_RESULTS: dict[str, tuple[str, str]] = {
    "all": ("garrison.bench.suites.every_suite", "every suite above, one after the other, and the page"),
    "page": ("garrison.bench.publish.bench_page", "make the page of a folder of results again"),
    "publish": ("garrison.bench.publish.documents", "make README, docs and page from the results in benchmarks/"),
}


def main(arguments: list[str]) -> int:
    """Run what is named first in `arguments` with the rest as its arguments, and return the exit code."""
    benches = SUITES | ABOUT_RESULTS
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, benches))
        rows = [f"  {name:<{width}}  {what}" for name, (_, what) in benches.items()]
        print("\n".join(["usage: garrison bench NAME [options]      (garrison bench NAME --help)", "", *rows]))
        return 0
    name, *rest = arguments
    choose("bench", name, list(benches))
    module = import_module(benches[name][0])
    with _leaving_cleanly():
        code: int = module.run(tyro.cli(module.Arguments, args=rest, prog=f"garrison bench {name}"))
    return code


@contextmanager
def _leaving_cleanly() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: whatever measures has a `finally` that ends the process it started."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # elsewhere Python has no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
