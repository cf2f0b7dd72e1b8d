"""A function in a process of its own, which takes everything that it started with it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import garrison

Report = Callable[[dict[str, Any]], None]
"""Takes a function's result: plain values. What the function does afterwards changes nothing about it."""


class FreshProcess:
    """Runs `module:function(report, **arguments)` in a fresh process, from its construction on.

    Args:
        function: "module:function".
        arguments: plain JSON values.
        python: the interpreter.
        path: a folder in which it finds modules, besides ours and those of PYTHONPATH.
    """

    def __init__(self, function: str, arguments: dict[str, Any], python: str = sys.executable, path: str = "") -> None:
        self._scratch = tempfile.TemporaryDirectory()
        self._folder = Path(self._scratch.name)
        order = {"function": function, "arguments": arguments, "parent": os.getpid()}
        (self._folder / "order").write_text(json.dumps(order))
        # A file, not a pipe: a peer's worker that outlives its parent would hold a pipe open forever.
        with (self._folder / "complaint").open("w") as complaint:
            self._child = subprocess.Popen(
                [python, "-c", "from garrison.bench.method.fresh_process import body; body()", self._scratch.name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env=os.environ | {"PYTHONPATH": _python_path(path)},
                cwd=self._scratch.name,  # one peer leaves a link in the current folder when it is imported
                start_new_session=True,  # so that stray workers can be ended with it
            )

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._child.poll() is not None

    def outcome(self, timeout: float | None = None) -> dict[str, Any] | str:
        """Wait for the end, for so many seconds at most; return what was reported, or what went wrong."""
        said = ""
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            said = f"no result within {timeout:g} s"
        self._end_group()
        if (self._folder / "result").exists():
            result: dict[str, Any] = json.loads((self._folder / "result").read_text())
            return result
        complaint = (self._folder / "complaint").read_text() + said
        return complaint.strip() or f"the process ended with code {self._child.returncode}"

    def __enter__(self) -> "FreshProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._end_group()
        self._scratch.cleanup()

    def _end_group(self) -> None:
        # The session's group outlives its leader when workers do; its id cannot be reused while one of them lives.
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()


def body() -> None:
    """Run what is ordered in the folder named by the first argument; the body of the fresh process."""
    folder = Path(sys.argv[1])
    order = json.loads((folder / "order").read_text())
    threading.Thread(target=_end_with, args=(order["parent"],), daemon=True).start()
    module, _, function = order["function"].partition(":")
    getattr(import_module(module), function)(partial(_report, folder), **order["arguments"])


def _report(folder: Path, result: dict[str, Any]) -> None:
    (folder / "result").write_text(json.dumps(result))


def _python_path(more: str) -> str:
    here = Path(garrison.__file__).parents[1]
    given = [Path(p).absolute() for p in [*os.environ.get("PYTHONPATH", "").split(os.pathsep), more] if p]
    return os.pathsep.join(map(str, dict.fromkeys([here, *given])))


def _end_with(parent: int) -> None:
    # A bench that is killed cannot end what it started: its children notice, and take their workers with them.
    while os.getppid() == parent:
        time.sleep(0.25)
    os.killpg(0, signal.SIGKILL)
