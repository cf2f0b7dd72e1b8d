"""What the processor's counters say about a backend, in sentences: threads against cores, and who takes the cores."""

import os
from typing import Any

from garrison.formatting import plural
from garrison.workers import pin

QUEUED = 0.10
"""The share of the time in the queue for a core that is worth a sentence."""


def findings(row: dict[str, Any], cores: int, environ: dict[str, str] | None = None) -> list[str]:
    """Return a sentence for each thing that is wrong with how a measured backend uses the cores."""
    said = []
    workers, caller = row["worker_processes"], row["caller"]
    if workers:
        busy = max(w["busy_threads"] for w in workers)
        if busy > 1 and busy * len(workers) > cores:
            said.append(
                f"oversubscribed: each of {plural(len(workers), 'worker')} runs {busy} busy threads on "
                f"{plural(cores, 'core')}, {busy * len(workers)} threads in all. Garrison's workers start with "
                "OMP_NUM_THREADS=1 and the like, so the environment itself asks for more: look for "
                "torch.set_num_threads, a thread pool or processes= in it, and make it 1."
            )
        elif len(workers) > cores and cpu_share(row) > 0.7:
            said.append(
                f"oversubscribed: {len(workers)} workers compute all the time on {plural(cores, 'core')} and take "
                f"turns; {cores} would do as much with less memory and fewer wake-ups."
            )
    elif row["backend"] != "native" and caller["busy_threads"] > max(cores, row["workers"] + 1):
        names = ", ".join(f"{name}={value}" for name, value in _settings(environ).items()) or "none of them is set"
        said.append(
            f"oversubscribed: this one process runs {caller['busy_threads']} busy threads on {plural(cores, 'core')}. "
            f"Math libraries take a thread per core unless OMP_NUM_THREADS and the like say less ({names}): set "
            "OMP_NUM_THREADS=1 before Python starts (Garrison's workers do)."
        )
    elif row["backend"] == "serial" and caller["busy_threads"] > 1:
        said.append(
            f"the environment computes with {caller['busy_threads']} threads in one process; workers have one each, "
            "so they gain less than their number."
        )
    return said


def crowded(rows: dict[str, dict[str, Any]]) -> str:
    """Return which backends waited for a core though they had no more busy threads than cores; empty if none did."""
    shares = {name: _queue_share(row) for name, row in rows.items() if not row["findings"]}
    waited = [f"{name} {share:.0%}" for name, share in shares.items() if share > QUEUED]
    if not waited:
        return ""
    load = f" (load {os.getloadavg()[0]:.1f})" if hasattr(os, "getloadavg") else ""
    return (
        f"waited for a core without running too many threads: {', '.join(waited)} of the time. Other programs use the "
        f"cores{load}, so these numbers are too low."
    )


def _settings(environ: dict[str, str] | None) -> dict[str, str]:
    values = dict(os.environ) if environ is None else environ
    return {name: values[name] for name in pin.VARIABLES if name in values}


def cpu_share(row: dict[str, Any]) -> float:
    """Return how many cores a step occupies while it runs: below 1 for environments that wait, above with threads."""
    batches = row["transitions"] / max(1, row["envs"])
    working = sum(row["parts"][part] for part in ("compute", "reset", "extras", "copy")) * batches
    processes = row["worker_processes"] or [row["caller"]]
    cpu = sum(p["cpu_seconds"] for p in processes) / len(processes)
    queued = sum(p["queue_seconds"] for p in processes) / len(processes)
    share: float = cpu / max(working - queued, cpu / 64, 1e-9)
    return share


def _queue_share(row: dict[str, Any]) -> float:
    processes = row["worker_processes"] or [row["caller"]]
    share: float = max(p["queue_seconds"] / max(1, p["busy_threads"]) for p in processes) / row["seconds"]
    return share
