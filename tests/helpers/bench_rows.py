"""Results of benches as they are stored, made up."""

import json
from pathlib import Path
from typing import Any

MACHINE = {
    "cpu": "a <fast> one",
    "cores": 2,
    "load_before": 0.5,
    "git": None,
    "sim_hash": "abc",
    "versions": {"x": "1"},
}
STEADY, SHAKY, WILD = (1.0, 1.01, 0.99) * 2, (1.0, 1.1, 0.9) * 2, (1.0, 2.0, 0.5) * 2
CYBORG = {"who": "CybORG", "red": "meander"}


def row(
    labels: dict[str, Any], rate: float = 1000.0, factors: tuple[float, ...] = STEADY, **facts: float
) -> dict[str, Any]:
    return {
        "labels": labels,
        "arguments": {},
        "steps_per_second": rate,
        "start_seconds": 0.1,
        "peak_mb": 50.0,
        "share_mb": 40.0,
        "error": None,
        "samples": [
            {"steps": rate * f, "wall_seconds": 1.0, "cpu_seconds": 1.0, "processes": 1, "facts": facts}
            for f in factors
        ],
    }


def failed(labels: dict[str, Any]) -> dict[str, Any]:
    return row(labels) | {
        "steps_per_second": 0.0,
        "error": "Traceback\nValueError: <broken>",
        "samples": [],
    }


def store(folder: Path, name: str, rows: list[dict[str, Any]], command: str = "garrison bench x", **extra: Any) -> None:
    method = {"command": command, "repeats": 6, "seconds": 1.0, "date": "2026-01-01"}
    (folder / f"{name}.json").write_text(json.dumps({"machine": MACHINE, "method": method, "results": rows, **extra}))
