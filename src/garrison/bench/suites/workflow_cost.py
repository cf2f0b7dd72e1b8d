"""`garrison bench sim --workflow`: what judging every fix and rewarding compliance costs.

The difference is a few per cent, less than one process differs from the next. So the batches share a process and take
turns, a few milliseconds each, in a changing order; a round gives one ratio for each, and the medians and quartiles of
these are reported. Time is CPU time of the stepping thread, so other processes count little. A second batch without a
workflow takes part as well: its ratio shows the error of the method.
"""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from garrison import system
from garrison.bench.method.measure import provenance
from garrison.bench.method.terminal import print_table
from garrison.bench.suites.simulators import LENGTH, RED_MIX, in_calls
from garrison.storage.atomic import write_json

BARE = "none"
VARIANTS: dict[str, dict[str, Any] | None] = {
    BARE: None,
    "none, again": None,
    "state": {"definition": "state"},
    "history": {"definition": "history"},
}
_ACTIONS = 64  # different batches of random actions, drawn before the clock starts
_STEPS = 40_000  # environment steps of one turn


@dataclass(frozen=True)
class VariantSpeed:
    """How one variant did in a batch of one size."""

    envs: int
    workflow: str
    steps_per_second: float
    """Median, by CPU time"""
    low: float
    """Lower quartile of the throughput relative to a batch without a workflow, round by round"""
    ratio: float
    """Its median"""
    high: float
    """Its upper quartile"""

    def record(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        labels = {"who": "garrison", "envs": self.envs, "workflow": self.workflow}
        numbers = {name: getattr(self, name) for name in ("steps_per_second", "low", "ratio", "high")}
        return {"labels": labels, **numbers}


def compare(num_envs: int, rounds: int) -> list[VariantSpeed]:
    """Step one batch of each variant in turns and return what each achieved."""
    from garrison.cage2.vector_env import VectorEnv
    from garrison.cage2.workflow import ORDERS, Workflow

    orders = [i % len(ORDERS) for i in range(num_envs)]
    batches = {}
    for name, settings in VARIANTS.items():
        workflow = None if settings is None else Workflow(orders=orders, **settings)
        batches[name] = VectorEnv(
            num_envs, red=RED_MIX, length=LENGTH, autoreset_mode="SameStep", workflow=workflow, copy=False
        )
        batches[name].reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, (_ACTIONS, num_envs))
    turns = {name: in_calls(envs, actions, _STEPS) for name, envs in batches.items()}
    seconds: dict[str, list[float]] = {name: [] for name in VARIANTS}
    names = list(VARIANTS)
    for turn in range(rounds + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            begun = time.thread_time()
            steps = turns[name]()
            if turn > 0:  # the first round warms up
                seconds[name].append(time.thread_time() - begun)
    rows = []
    for name, times in seconds.items():
        ratios = [bare / own for bare, own in zip(seconds[BARE], times, strict=True)]
        low, ratio, high = statistics.quantiles(ratios, n=4, method="inclusive")
        rows.append(VariantSpeed(num_envs, name, steps / statistics.median(times), low, ratio, high))
    return rows


def run(quick: bool, out: Path | None) -> None:
    """Compare batches of several sizes, print a table and keep it as `workflow/cost.json` in `out`."""
    rounds = 40 if quick else 200
    rows = [row for n in ((1000,) if quick else (1, 100, 1000, 10_000)) for row in compare(n, rounds)]
    print_table(
        "simulator with a workflow: random actions, 120 orders, CPU time",
        ("workflow", "environments", "steps/s", "relative throughput", "quartiles"),
        [
            (r.workflow, f"{r.envs:,}", f"{r.steps_per_second:,.0f}", f"{r.ratio:.3f}", f"{r.low:.3f}-{r.high:.3f}")
            for r in rows
        ],
    )
    if out is not None:
        method = {"rounds": rounds, "steps_per_turn": _STEPS, "clock": "CPU time of the thread", "interleaved": True}
        facts = {"machine": system.facts(), "method": method | provenance(), "results": [r.record() for r in rows]}
        file = out / "workflow" / "cost.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, facts)
        print(f"wrote {file}")
