"""`garrison bench all`: every suite in a process of its own, so that one that fails costs only its own results."""

import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from garrison.bench.publish import stored
from garrison.bench.publish.bench_page import write_page
from garrison.bench.suites import SUITES
from garrison.errors import UserError, choose


@dataclass(frozen=True)
class Arguments:
    """Run every suite, one after the other; each writes its results when it is done."""

    quick: bool = False
    """Fewer rows and short repeats: a look in a minute or two, not for publication."""
    out: Path = Path("bench")
    """Folder for the results (JSON) and the page made from them (index.html)."""
    leave_out: tuple[str, ...] = ()
    """Suites not to run: `record` trains for a quarter of an hour."""


def run(arguments: Arguments) -> int:
    """Run the suites; return 0 unless one of them failed."""
    for name in arguments.leave_out:
        choose("bench", name, list(SUITES))
    failed = []
    for name in [name for name in SUITES if name not in arguments.leave_out]:
        print(f"--- garrison bench {name}", flush=True)
        code = run_suite(name, ["--out", str(arguments.out), *(["--quick"] if arguments.quick else [])])
        if code == UserError.exit_code:  # it lacks something that it has named, such as an optional package
            print(f"garrison bench {name} cannot run here, as it said; the others go on", file=sys.stderr)
        elif code:
            failed.append(name)
            print(f"garrison bench {name} ended with code {code}; the others go on", file=sys.stderr)
    if stored.names(arguments.out):
        print(f"the page: {write_page(arguments.out)}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run_suite(name: str, arguments: list[str]) -> int:
    """Run one suite as a command and return its exit code; whatever interrupts this ends the command as well."""
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
