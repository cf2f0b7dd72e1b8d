"""`garrison bench NAME`: the measurements behind every published number; a bench's module is imported when it runs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

from garrison.errors import choose

BENCHES: dict[str, tuple[str, str]] = {
    "sim": ("garrison.bench.sim", "the simulator alone: speed, start-up and memory, beside CybORG and MiniCAGE"),
    "vector": ("garrison.bench.vector", "our vector backends and every installed peer, on the same environments"),
    "train": ("garrison.bench.train", "training end to end, beside every installed peer"),
    "users": ("garrison.bench.users", "the tables that our users measured, run again on this code"),
    "cluster": ("garrison.bench.cluster", "IMPALA on Ray, node by node, beside processes; what 1000 nodes would do"),
    "record": ("garrison.bench.record", "the record presets from scratch, several seeds: official total over time"),
}
"""Name to (module, what it measures); each `main(arguments)` takes `--quick` and `--out`, and `all` runs them all."""
ABOUT_BENCHES: dict[str, tuple[str, str]] = {
    "all": ("garrison.bench.suite", "every bench above, one after the other, and the page"),
    "page": ("garrison.bench.page", "make the page of a folder of results anew"),
}


def main(arguments: list[str]) -> int:
    """Run the bench named first in `arguments` with the rest as its options, and return the exit code."""
    commands = BENCHES | ABOUT_BENCHES
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, commands))
        rows = [f"  {name:<{width}}  {what}" for name, (_, what) in commands.items()]
        print("\n".join(["usage: garrison bench NAME [options]      (garrison bench NAME --help)", "", *rows]))
        return 0
    name, *rest = arguments
    choose("bench", name, list(commands))
    with _leaving_cleanly():
        code: int = import_module(commands[name][0]).main(rest)
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
