"""One repeat of one configuration in a process of its own, which takes everything that it started with it.

A configuration is a *workload* with its arguments: a context manager, named "module:function", that yields a `Work`.

    @contextmanager
    def random_steps(num_envs: int) -> Iterator[Work]:
        envs = ...
        def advance() -> int:
            envs.step(...)
            return num_envs
        yield Work(advance)
        envs.close()
"""

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
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import garrison
from garrison import system
from garrison.bench.method.labels import Labels, name_of


@dataclass(frozen=True)
class Work:
    """What a workload yields: `advance` does some work and returns its steps; `facts` is asked once at the end."""

    advance: Callable[[], int]
    facts: Callable[[], dict[str, float]] = dict


@dataclass(frozen=True)
class Configuration:
    """One row to measure; `labels` identify it, `arguments` are plain JSON values; both are stored with the result."""

    labels: Labels
    workload: str
    """"module:function" of a context manager that yields `Work`."""
    arguments: dict[str, Any] = field(default_factory=dict)
    python: str = sys.executable
    """Another interpreter, for a peer that cannot be installed beside Garrison."""

    @property
    def name(self) -> str:
        """What people call it."""
        return name_of(self.labels)


@dataclass(frozen=True)
class Sample:
    """What one fresh process reports."""

    steps: int
    wall_seconds: float
    cpu_seconds: float
    start_seconds: float
    peak_mb: float
    """Sum of the peak resident memory of the process and its children: pages that they share count more than once."""
    share_mb: float
    """Their proportional share at the end: shared pages count once."""
    processes: int
    facts: dict[str, float]


def run_fresh(configuration: Configuration, seconds: float, warm_up: float, timeout: float) -> Sample | str:
    """Run one repeat in a fresh process; return its sample, or what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        order: dict[str, Any] = {"workload": configuration.workload, "arguments": configuration.arguments}
        order |= {"seconds": seconds, "warm_up": warm_up, "parent": os.getpid()}
        (folder / "order").write_text(json.dumps(order))
        # Files, not pipes: a peer's worker that outlives its parent would hold a pipe open forever.
        with (folder / "complaint").open("w") as complaint:
            child = subprocess.Popen(
                [configuration.python, "-c", "from garrison.bench.method.fresh import child; child()", name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env=os.environ | {"PYTHONPATH": _python_path()},
                cwd=name,  # one peer leaves a link in the current folder when it is imported
                start_new_session=True,  # so that stray workers can be ended with it
            )
            try:
                child.wait(timeout)
            except subprocess.TimeoutExpired:
                complaint.write(f"no result within {timeout:g} s")
            finally:
                _end_group(child)
        if (folder / "sample").exists():
            return Sample(**json.loads((folder / "sample").read_text()))
        return (folder / "complaint").read_text().strip() or f"the process ended with code {child.returncode}"


def child() -> None:
    """Run the workload described in the folder named by the first argument; the body of the fresh process."""
    folder = Path(sys.argv[1])
    order = json.loads((folder / "order").read_text())
    threading.Thread(target=_end_with, args=(order["parent"],), daemon=True).start()
    module, _, function = order["workload"].partition(":")
    begun = time.perf_counter()
    with getattr(import_module(module), function)(**order["arguments"]) as work:
        start_seconds = time.perf_counter() - begun
        _work_for(order["warm_up"], work.advance)
        processes = system.process_tree(os.getpid())
        cpu = system.cpu_seconds(processes)
        steps, wall = _work_for(order["seconds"], work.advance)
        processes = system.process_tree(os.getpid())
        peak, share = system.memory_mb(processes)
        cpu = system.cpu_seconds(processes) - cpu
        sample = Sample(steps, wall, cpu, start_seconds, peak, share, len(processes), work.facts())
        # Written before the workload closes: a peer that hangs in close() has been measured all the same.
        (folder / "sample").write_text(json.dumps(asdict(sample)))


def _python_path() -> str:
    here = Path(garrison.__file__).parents[1]
    given = [Path(p).absolute() for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    return os.pathsep.join(map(str, dict.fromkeys([here, *given])))


def _work_for(seconds: float, advance: Callable[[], int]) -> tuple[int, float]:
    steps = 0
    begun = now = time.perf_counter()
    while now - begun < seconds:
        steps += advance()
        now = time.perf_counter()
    return steps, now - begun


def _end_with(parent: int) -> None:
    # A bench that is killed cannot end what it started: its children notice, and take their workers with them.
    while os.getppid() == parent:
        time.sleep(0.25)
    os.killpg(0, signal.SIGKILL)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    # The session's group outlives its leader when workers do; its id cannot be reused while one of them lives.
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
