"""`garrison bench record`: train the record presets from scratch, several seeds, and note when each rank is passed.

With `--keep` a second call goes on where the first was interrupted: a run that is there and done is not trained again.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from garrison import system
from garrison.agents import load_agent
from garrison.bench.method.measure import provenance
from garrison.bench.publish import record_figure
from garrison.bench.publish.keep import keep
from garrison.bench.suites.arguments import CommonArguments
from garrison.challenge import leaderboard
from garrison.challenge.evaluation import evaluate
from garrison.errors import UserError, choose

PRESETS = ("record", "record-head")
FRESH_SEED = 1919
"""Of the episodes of the last score: no setting was chosen by them."""
TRUTH = (
    *("access", "access_oldest", "sessions", "hidden", "malware", "known_address", "known_host", "known_subnet"),
    *("red", "ot_running", "ot_known"),
)
"""What the simulator knows and Blue is not shown"""
# What the presets do beyond plain PPO on the challenge's own interface, taken away one at a time. Scores need a longer
# view than regrets, so they have the settings that were chosen for them.
ABLATIONS: dict[str, list[str]] = {
    "everything": [],
    "no regrets": ["--reward", "score", "--gamma", "0.995", "--gae-lambda", "0.98", *("--entropy-coef", "0.01")],
    "no history": ["--observation", "memory"],
    "no memory": ["--observation", "bits"],
    "145 actions": ["--actions", "all"],
    "no masks": ["--no-action-masks"],
}
# What may be put in their place, or beside them, measured as the parts are.
ALTERNATIVES: dict[str, list[str]] = {
    "a belief": ["--belief"],
    "a critic that sees the truth": ["--critic-extras", *TRUTH],
    "a belief and that critic": ["--belief", "--critic-extras", *TRUTH],
    "a GRU for the history": ["--observation", "memory", "--recurrent-size", "64"],
    "distilled from who sees the truth": ["--gamma", "0", "--gae-lambda", "0"],
    "only B_line": ["--red", "bline"],
    "only Meander": ["--red", "meander"],
}


@dataclass(frozen=True)
class Arguments(CommonArguments):
    """Train the record presets from scratch and follow their official total over time."""

    presets: tuple[str, ...] = PRESETS
    """Which presets."""
    seeds: int = 5
    """Runs of each preset, with the seeds 0, 1, ..."""
    every: int = 1_000_000
    """Steps between evaluations during training (100 episodes per cell)."""
    steps: int = 0
    """Steps of each run; 0 leaves the preset's own number."""
    episodes: int = 10_000
    """Episodes in each cell of the score at the end, with a seed that nothing else uses."""
    ablate: bool = False
    """Instead train variants of each preset, parts of it taken away or replaced, and write `record-ablation.json`."""
    variants: tuple[str, ...] = tuple(ABLATIONS)
    """Which of them; by default all that take something away. Others put something in its place or beside it: 'a
    belief', 'a critic that sees the truth', 'a belief and that critic', 'a GRU for the history', 'distilled from who
    sees the truth', 'only B_line', 'only Meander'."""
    keep: Path | None = None
    """Where to keep the run folders, and to go on with those that are there; by default they are deleted."""


def run(arguments: Arguments) -> int:
    """Train, print each run's official total, and keep the curves."""
    if arguments.quick:
        arguments = replace(
            arguments, presets=arguments.presets[:1], seeds=1, steps=200_000, every=200_000, episodes=100
        )
    if arguments.out is not None:
        system.require("matplotlib")
    name = "record-ablation" if arguments.ablate else "record"
    known = ABLATIONS | ALTERNATIVES
    variants = {choose("variant", v, list(known)): known[v] for v in arguments.variants}
    variants = variants if arguments.ablate else {"": []}
    cases = [(p, v, seed) for p in arguments.presets for v in variants for seed in range(arguments.seeds)]
    result: dict[str, Any] = {"machine": system.facts(), "method": provenance(), "runs": []}
    with tempfile.TemporaryDirectory() as scratch:
        for preset, variant, seed in cases:
            made = train(preset, seed, arguments, arguments.keep or Path(scratch), variants[variant])
            times, steps = passed(made["curve"]), passed(made["curve"], "step")
            result["runs"].append(made | {"variant": variant, "passed": times, "passed_steps": steps})
            score, what = made["evaluation"], f"{preset}, {variant}" if variant else preset
            print(f"{what}, seed {seed}: {score['total']:.2f} ± {score['ci95']:.2f} after {made['seconds']:.0f} s")
            keep(arguments.out, name, result)  # after every run: an interrupt costs only the one that it hits
    if arguments.out is not None and not arguments.ablate:
        print(f"wrote {record_figure.draw(result['runs'], arguments.out / 'record.png')}")
    return 0


def train(preset: str, seed: int, arguments: Arguments, folder: Path, flags: list[str]) -> dict[str, Any]:
    """Train in a fresh process, as a user would, and return the curve and the final score."""
    out = folder / "-".join([preset, str(seed), *(flag.strip("-") for flag in flags)])
    words = ["train", preset, "--seed", str(seed)]
    more = ["--evaluate-every", str(arguments.every), *flags]
    more += ["--steps", str(arguments.steps)] if arguments.steps else []
    if not (out / "summary.json").exists():
        shutil.rmtree(out, ignore_errors=True)  # one that was broken off: its times would be wrong
        done = subprocess.run([sys.executable, "-m", "garrison", *words, "--out", str(out), *more], check=False)
        if done.returncode:
            raise UserError(f"garrison {' '.join([*words, *more])} ended with {done.returncode}; see above.")
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    curve = [
        {"step": row["step"], "seconds": row["time/elapsed_time"], "total": round(row["evaluation/total"], 2)}
        for row in rows
        if "evaluation/total" in row
    ]
    fresh = evaluate(load_agent(str(out)), episodes=arguments.episodes, seed=FRESH_SEED)
    return {
        "preset": preset,
        "seed": seed,
        "command": " ".join(["garrison", *words, *more]),
        "seconds": rows[-1]["time/elapsed_time"],
        "steps": rows[-1]["step"],
        "curve": curve,
        "evaluation": {**fresh.to_dict(), "agent": preset},
    }


def passed(curve: list[dict[str, Any]], unit: str = "seconds") -> dict[str, float | None]:
    """Return when the curve first stood above each row of the leaderboard, and stayed there: in seconds, or steps."""
    times: dict[str, float | None] = {}
    for row in leaderboard.leaderboard():
        below = [k for k, point in enumerate(curve) if point["total"] <= row.total]
        first = below[-1] + 1 if below else 0
        times[str(row.rank)] = curve[first][unit] if first < len(curve) else None
    return times
