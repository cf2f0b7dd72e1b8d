"""Folders of runs with numbers that are known, written without training."""

import json
from pathlib import Path
from typing import Any

from garrison.runs import marks


def write_run(
    path: Path,
    *,
    seed: int = 0,
    updates: int = 20,
    slope: float = 10.0,
    start: float = -700.0,
    status: str = "finished",
    env: str = "garrison/CAGE2-v0",
    steps: int = 20_000,
    **summary: Any,
) -> Path:
    """Write a run whose return rises by `slope` in each update; without a status it has not ended."""
    path.mkdir(parents=True)
    settings = {
        "preset": "none",
        "env": {"env": env, "red": "bline", "rules": "leaderboard", "length": 100, "envs": 16},
        "run": {"out": str(path), "duration": "", "page": True},
        "ppo": {"seed": seed, "steps": steps, "learning_rate": 0.001},
    }
    (path / "config.yaml").write_text(json.dumps(settings))
    (path / "versions.json").write_text(json.dumps({"garrison": "1.0", "command": ["garrison", "train", "a b"]}))
    rows: list[dict[str, float]] = []
    for k in range(1, updates + 1):
        rows.append(
            {
                "step": 1000 * k,
                "time/elapsed_time": 2.0 * k,
                "time/fps": 500.0,
                "rollout/ep_reward_mean": start + slope * k,
                "train/policy_loss": -0.01 / k,
                "train/value_loss": 50.0 / k**2,
                "train/entropy": 5.0 - 0.1 * k,
                "time_split/act": 0.5,
                "time_split/learn": 1.5,
                "actions/Sleep": 0.25,
                "actions/Restore": 0.75,
            }
        )
        if k % 5 == 0:
            score = {"evaluation/total": -900.0 + k, "evaluation/ci95": 2.0, "evaluation/bline_30": -50.0 + k}
            rows.append({"step": 1000 * k, "time/elapsed_time": 2.0 * k, **score})
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    marks.add_mark(path, marks.STARTED, 0, 0.0)
    marks.add_mark(path, marks.SAVED, 1000 * updates, 2.0 * updates)
    if status:
        told = {"status": status, "ended": marks.now(), "training_mode": "ppo", "env": env, "seed": seed, **summary}
        (path / "summary.json").write_text(json.dumps(told))
    return path


def official_score(total: float = -123.4) -> dict[str, Any]:
    """Return the parts of a summary that the official score adds."""
    cells = [
        {"red": red, "length": length, "mean": total / 9, "stderr": 0.5}
        for length in (30, 50, 100)
        for red in ("bline", "meander", "sleep")
    ]
    evaluation = {"total": total, "ci95": 1.5, "rules": "leaderboard", "episodes": 100, "cells": cells}
    mix = {"bline": {"Sleep": 0.25, "Restore User1": 0.75}, "sleep": {"Sleep": 1.0}}
    return {"evaluation": evaluation, "action_mix": mix}
