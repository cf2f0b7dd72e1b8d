"""A function in a process of its own, which takes everything that it started with it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import garrison
from garrison import system
from garrison.bench.method import guard

Report = Callable[[dict[str, Any]], None]
"""Takes a function's result: plain values. What the function does afterwards changes nothing about it."""


class FreshProcess:
    """Runs `module:function(report, **arguments)` in a fresh process, from its construction on.

    Args:
        function: "module:function".
        arguments: plain JSON values.
        python: the interpreter.
        path: a folder in which it finds modules, besides ours and those of PYTHONPATH.
        pass_fds: open files that it gets under the same numbers.
    """

    def __init__(
        self,
        function: str,
        arguments: dict[str, Any],
        python: str = sys.executable,
        path: str = "",
        pass_fds: tuple[int, ...] = (),
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory()
        self._folder = Path(self._scratch.name)
        (self._folder / "order").write_text(json.dumps({"function": function, "arguments": arguments}))
        body = [python, "-c", "from garrison.bench.method.fresh_process import body; body()", self._scratch.name]
        # A file, not a pipe: a peer's worker that outlives its parent would hold a pipe open forever.
        with (self._folder / "complaint").open("w") as complaint:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, str(os.getpid()), *body],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env=os.environ | {"PYTHONPATH": _python_path(path)},
                cwd=self._scratch.name,  # one peer leaves a link in the current folder when it is imported
                start_new_session=True,  # so that stray workers can be ended with it
                pass_fds=pass_fds,
            )

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._guard.poll() is not None

    def processes(self) -> list[int]:
        """Return the ids of the process and of all its living descendants, parents first."""
        return system.process_tree(self._guard.pid)[1:]

    def outcome(self, timeout: float | None = None) -> dict[str, Any] | str:
        """Wait for the end, for so many seconds at most; return what was reported, or what went wrong."""
        said = ""
        try:
            self._guard.wait(timeout)
        except subprocess.TimeoutExpired:
            said = f"no result within {timeout:g} s"
        self._end_group()
        if (self._folder / "result").exists():
            result: dict[str, Any] = json.loads((self._folder / "result").read_text())
            return result
        return self.complaint(said)

    def complaint(self, more: str = "") -> str:
        """Return what a process that failed has said, and what there is to say about it."""
        said = (self._folder / "complaint").read_text() + more
        return said.strip() or f"the process ended with code {self._guard.poll()}"

    def __enter__(self) -> "FreshProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._end_group()
        self._scratch.cleanup()

    def _end_group(self) -> None:
        # The session's group outlives its leader when workers do; its id cannot be reused while one of them lives.
        with suppress(ProcessLookupError):
            os.killpg(self._guard.pid, signal.SIGKILL)
        self._guard.wait()


def body() -> None:
    """Run what is ordered in the folder named by the first argument; the body of the fresh process."""
    folder = Path(sys.argv[1])
    order = json.loads((folder / "order").read_text())
    module, _, function = order["function"].partition(":")
    getattr(import_module(module), function)(partial(_report, folder), **order["arguments"])


def _report(folder: Path, result: dict[str, Any]) -> None:
    (folder / "result").write_text(json.dumps(result))


def _python_path(more: str) -> str:
    here = Path(garrison.__file__).parents[1]
    given = [Path(p).absolute() for p in [*os.environ.get("PYTHONPATH", "").split(os.pathsep), more] if p]
    return os.pathsep.join(map(str, dict.fromkeys([here, *given])))
