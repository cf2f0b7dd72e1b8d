"""What backends would measure, from numbers that are known."""

from typing import Any

from garrison.vector.timing.parts import bin_of


def row(backend: str, step: float, workers: int = 2, cpu: float = 1.0, **more: Any) -> dict[str, Any]:
    """What a backend would measure: 16 environments that take `step` each, for a second."""
    envs, extra = 16, {"ipc": 0.0, "wait": 0.0, **more.pop("parts", {})}
    compute = step * envs / workers
    parts = {"compute": compute, "reset": 0.0, "extras": 0.0, "copy": 1e-6, **extra}
    whole = sum(parts.values())
    busy = {"threads": 1, "busy_threads": 1, "queue_seconds": 0.0}
    processes = {"joint": workers - 1}.get(backend, workers if backend in ("pipes", "shared", "async") else 0)
    return {
        "backend": backend,
        "envs": envs,
        "workers": workers,
        "batch_size": envs // 2 if backend == "async" else None,
        "transitions": envs / whole,
        "seconds": 1.0,
        "steps_per_second": envs / whole,
        "step_seconds": whole,
        "parts": parts,
        "steps": {str(bin_of(int(1e9 * step))): 100},
        "caller": {**busy, "cpu_seconds": 0.01 if processes else cpu},
        "worker_processes": [{**busy, "cpu_seconds": cpu * compute / whole} for _ in range(processes)],
        "findings": [],
        **more,
    }


def measured(step: float, cpu: float = 1.0) -> dict[str, Any]:
    rows = [row("serial", step, 1, cpu), row("shared", step, 2, cpu, parts={"ipc": 80e-6})]
    return {each["backend"]: each for each in rows}
