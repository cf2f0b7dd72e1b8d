"""Running a person's script in a Python of its own, which sees our package, and telling what it left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from garrison.cyborg.staging import evaluation_folder
from garrison.errors import UserError


def command(target: list[str]) -> list[str]:
    """Return the Python command for a script, `-m MODULE` or `-c CODE`, with its arguments; check that it is there."""
    if not target:
        raise UserError("there is no script to run.", hint="Name one: garrison cyborg run evaluation.py")
    what, *rest = target
    if what in ("-m", "-c"):
        if not rest:
            raise UserError(f"{what} needs something to run.", hint="It means what it means to Python.")
    elif Path(what).is_dir() and not (Path(what) / "__main__.py").is_file():
        raise UserError(f"{what} is a folder, not a script.", hint="Name the file to run.")
    elif not Path(what).exists():
        raise UserError(f"there is no script {what}.", hint="Check its name and the folder that you are in.")
    return [sys.executable, *target]


def run(target: list[str], variables: dict[str, str], folder: Path) -> int:
    """Run it to its end and return its exit code; name the files that were written beside the package meanwhile."""
    results = evaluation_folder(folder)
    before = _stamps(results)
    with subprocess.Popen(command(target), env={**os.environ, **variables}) as process, _signals_for(process):
        code = process.wait()
    written = [path for path, stamp in _stamps(results).items() if before.get(path) != stamp]
    if written:
        print("garrison cyborg run: written beside the package", *written, sep="\n  ", file=sys.stderr)
    # What a shell says about a process that a signal ended.
    return code if code >= 0 else 128 - code


def _stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in (".py", ".pyc"))
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


@contextmanager
def _signals_for(process: "subprocess.Popen[Any]") -> Iterator[None]:
    """Leave Ctrl-C to the script, which the terminal tells as well, and pass on a request to end."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.terminate()),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
