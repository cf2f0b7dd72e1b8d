"""The profile of an environment: measures one backend after the other, advises, and checks its advice."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from garrison.errors import UserError, choose
from garrison.profile.advice import Advice, advise
from garrison.profile.findings import crowded, findings
from garrison.system import cores
from garrison.vector.naming import parse_env_args
from garrison.vector.registry import BACKENDS

PATIENCE = 60.0
"""Seconds that a process may take beside measuring: importing, compiling, making the environments."""

DISAPPOINTING = 0.8
"""The share of the expected gain below which the next best is tried as well."""
MOST_CHECKS = 2
TIMED = tuple(name for name, backend in BACKENDS.items() if backend.timed)
"""The backends that account for their time, simplest first; Ray's workers have clocks of their own."""


@dataclass(frozen=True)
class ProfileSettings:
    """What to measure, and for how long."""

    env: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")]
    """A Gymnasium id (also module:Id), or package.module:callable."""
    backend: Annotated[tuple[str, ...], tyro.conf.arg(metavar="B ...")] = ()
    """Which backends; all that fit by default."""
    envs: int = 16
    """How many environments."""
    workers: int | None = None
    """Workers of the backends that have them; the number of cores by default."""
    batch_size: int | None = None
    """What recv of async returns at once; half of the environments by default."""
    extras: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...")] = ()
    """Extras (such as the true state) to read after every step."""
    env_args: Annotated[tuple[str, ...], tyro.conf.arg(metavar="KEY=VALUE ...")] = ()
    """Arguments of the environment."""
    seconds: float = 1.0
    """How long each backend is measured, after a warm-up of a third of it."""
    policy: bool = True
    """Also time the default policy, which takes PyTorch some seconds to load."""
    overhead: bool = False
    """Measure instead what the timing itself costs."""

    def check(self) -> None:
        """Raise a `UserError` that names the first setting that cannot be measured."""
        if self.envs < 1:
            raise UserError(f"--envs must be at least 1; got {self.envs}")
        if not 0.0 < self.seconds <= 600.0:
            raise UserError(f"--seconds must be between 0 and 600; got {self.seconds:g}")
        for backend in self.backend:
            choose("backend", backend, ["native", *TIMED])


def profile_env(settings: ProfileSettings, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything that the settings ask for; `say` gets a line about each thing that begins."""
    settings.check()
    request: dict[str, Any] = {
        "env": settings.env,
        "env_args": parse_env_args(settings.env_args),
        "envs": settings.envs,
        "workers": settings.workers,
        "extras": list(settings.extras) or None,
        "seconds": settings.seconds,
        "warm_up": settings.seconds / 3,
        "policy": settings.policy and not settings.overhead,
    }
    seen = measure_in_process({**request, "what": "look"}, settings.seconds)
    if "error" in seen:
        raise UserError(f"{settings.env}: {seen['error']}")
    result: dict[str, Any] = {
        "environment": settings.env,
        "envs": settings.envs,
        "cores": cores(),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "request": request,
        "look": seen,
        "backends": {},
        "skipped": {},
    }
    for backend in settings.backend or fitting(seen["has_batch"]):
        say(f"measuring {backend}")
        each = {**request, "what": "overhead" if settings.overhead else "profile", "backend": backend}
        if backend == "async":
            each["batch_size"] = settings.batch_size
        if why := _too_slow(backend, seen["step_seconds"], settings):
            result["skipped"][backend] = why
            continue
        row = measure_in_process(each, settings.seconds)
        if "error" in row:
            result["skipped"][backend] = row["error"]
        else:
            result["backends"][backend] = {**row, "envs": settings.envs}
    if not result["backends"]:
        raise UserError("no backend could be measured: " + "; ".join(f"{b}: {w}" for b, w in result["skipped"].items()))
    if not settings.overhead:
        for row in result["backends"].values():
            row["findings"] = findings(row, cores())
        result["crowded"] = crowded(result["backends"])
        result["advice"], result["rejected"] = checked_advice(result["backends"], request, say)
    return result


def checked_advice(
    rows: dict[str, Any], request: dict[str, Any], say: Callable[[str], None]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run what is advised; if it disappoints, the next best as well. Return the best, and what was rejected for it."""
    baseline = "serial" if "serial" in rows else next(iter(rows))
    tried: list[dict[str, Any]] = []
    for advice in advise(rows, cores()):
        if any((each["backend"], each["workers"]) == (advice.backend, advice.workers) for each in tried):
            continue
        say(f"checking the advice: {advice.words}")
        tried.append(verified(advice, request, rows, baseline))
        disappoints = (tried[-1]["measured_gain"] or 0.0) < DISAPPOINTING * tried[-1]["expected_gain"]
        if not disappoints or len(tried) == MOST_CHECKS:
            break
    best = max(tried, key=lambda each: each["measured_gain"] or 0.0)
    return best, [each for each in tried if each is not best]


def verified(advice: Advice, request: dict[str, Any], rows: dict[str, Any], baseline: str) -> dict[str, Any]:
    """Run what is advised, and the baseline once more beside it: the machine may have changed its pace meanwhile."""
    expected = advice.steps_per_second / rows[baseline]["steps_per_second"]
    each = {**request, "what": "profile", "backend": advice.backend}
    if advice.backend not in ("serial", "native"):
        each |= {"workers": advice.workers, "batch_size": advice.batch_size}
    row = measure_in_process(each, request["seconds"])
    again = row
    if advice.backend != baseline:
        again = measure_in_process({**request, "what": "profile", "backend": baseline}, 1.0)
    measured, beside = row.get("steps_per_second"), again.get("steps_per_second")
    return {
        "backend": advice.backend,
        "workers": advice.workers,
        "batch_size": advice.batch_size,
        "words": advice.words,
        "basis": advice.basis,
        "baseline": baseline,
        "expected_steps_per_second": advice.steps_per_second,
        "expected_gain": expected,
        "measured_steps_per_second": measured,
        "baseline_steps_per_second": beside,
        "measured_gain": measured / beside if measured and beside else None,
        "error": row.get("error") or again.get("error"),
    }


def fitting(has_batch: bool) -> list[str]:
    """Return the backends that can run an environment here."""
    ours = [name for name in TIMED if sys.platform != "win32" or not BACKENDS[name].has_processes]
    return [*(["native"] if has_batch else []), *ours]


def _too_slow(backend: str, step_seconds: float, settings: ProfileSettings) -> str:
    """Return why a backend would keep the user waiting; empty if it would not."""
    at_once = 1 if backend == "serial" else min(settings.workers or cores(), settings.envs)
    seconds = step_seconds * settings.envs / at_once
    if backend == "native" or backend in settings.backend or 4 * seconds < 10 * settings.seconds:
        return ""
    return f"a step of {settings.envs} environments takes about {seconds:.1f} s here; --backend {backend} measures it"


def measure_in_process(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run one measurement in a process of its own and return its result."""
    with tempfile.TemporaryDirectory(prefix="garrison-") as folder:
        file = Path(folder) / "result.json"
        command = [sys.executable, "-m", "garrison.profile.child", str(file)]
        # A session of its own, so that whatever it started can be ended with it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            _, errors = process.communicate(json.dumps(request), timeout=PATIENCE + 20 * seconds)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return {"error": f"not done within {error.timeout:.0f} s"}
            raise
        if not file.exists():
            last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            return {"error": f"the measuring process ended: {last[0]}"}
        answer: dict[str, Any] = json.loads(file.read_text())
        return answer
