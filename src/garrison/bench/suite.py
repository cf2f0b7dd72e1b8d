"""`garrison bench all`: every bench in a process of its own, so that one that fails costs only its own results."""

import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import tyro

from garrison.bench import BENCHES, page, results
from garrison.errors import choose

CANNOT_RUN = 2
"""The exit code of a command that lacks something it can name, such as an optional package."""


@dataclass(frozen=True)
class Options:
    """Run every bench, one after the other; each writes its results when it is done."""

    quick: bool = False
    """Fewer rows and short repeats: a look in a minute or two, not for publication."""
    out: Path = Path("bench")
    """Folder for the results (JSON) and the page made from them (index.html)."""
    leave_out: tuple[str, ...] = ()
    """Benches not to run: `record` trains for a quarter of an hour."""


def main(arguments: list[str]) -> int:
    """Run the benches; return 0 unless one of them failed."""
    options = tyro.cli(Options, args=arguments, prog="garrison bench all")
    for name in options.leave_out:
        choose("bench", name, list(BENCHES))
    failed = []
    for name in [name for name in BENCHES if name not in options.leave_out]:
        print(f"--- garrison bench {name}", flush=True)
        code = run(name, ["--out", str(options.out), *(["--quick"] if options.quick else [])])
        if code == CANNOT_RUN:
            print(f"garrison bench {name} cannot run here, as it said; the others go on", file=sys.stderr)
        elif code:
            failed.append(name)
            print(f"garrison bench {name} ended with code {code}; the others go on", file=sys.stderr)
    if results.names(options.out):
        print(f"the page: {page.write(options.out)}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(name: str, arguments: list[str]) -> int:
    """Run one bench as a command and return its exit code; whatever interrupts this ends the command as well."""
    process = subprocess.Popen([sys.executable, "-m", "garrison", "bench", name, *arguments])
    try:
        return process.wait()
    finally:
        # After Ctrl-C on a terminal it has the signal already, and is cleaning up.
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
        if process.returncode is None:
            process.terminate()
            process.wait()
