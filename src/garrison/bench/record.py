"""`garrison bench record`: train the record presets from scratch, several seeds, and note when each rank is passed."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from garrison import system
from garrison.bench.measure import command_line
from garrison.bench.options import Common
from garrison.bench.results import announce
from garrison.challenge import leaderboard
from garrison.storage import checkpoint
from garrison.storage.atomic import write_json

PRESETS = ("record", "record-head")
# What the presets do beyond plain PPO on the challenge's own interface, taken away one at a time.
ABLATIONS: dict[str, list[str]] = {
    "everything": [],
    "145 actions": ["--actions", "all"],
    "no memory": ["--observation", "bits"],
    "no masks": ["--no-action-masks"],
    "none of the three": ["--actions", "all", "--observation", "bits", "--no-action-masks"],
}


@dataclass(frozen=True)
class Options(Common):
    """Train the record presets from scratch and follow their official total over time."""

    presets: tuple[str, ...] = PRESETS
    """Which presets."""
    seeds: int = 3
    """Runs of each preset, with the seeds 0, 1, ..."""
    every: int = 1_000_000
    """Steps between evaluations during training (100 episodes a cell)."""
    steps: int = 0
    """Steps of each run; 0 leaves the preset's own number."""
    ablate: bool = False
    """Instead train variants of each preset with parts taken away, and write `record-ablation.json`."""
    keep: Path | None = None
    """Where to keep the run folders; by default they are deleted."""
    ship: Path | None = None
    """Folder for the best agent of each preset, without the learner's state: what the package ships."""


def train(preset: str, seed: int, options: Options, folder: Path, flags: list[str]) -> dict[str, Any]:
    """Train in a fresh process, as a user would, and return the curve and the final score."""
    out = folder / "-".join([preset, str(seed), *(flag.strip("-") for flag in flags)])
    command = ["train", preset, "--seed", str(seed), "--out", str(out), "--evaluate-every", str(options.every), *flags]
    if options.steps:
        command += ["--steps", str(options.steps)]
    subprocess.run([sys.executable, "-m", "garrison", *command], check=True)
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    curve = [
        {"step": row["step"], "seconds": row["time/elapsed_time"], "total": round(row["evaluation/total"], 2)}
        for row in rows
        if "evaluation/total" in row
    ]
    summary = json.loads((out / "summary.json").read_text())
    return {
        "preset": preset,
        "seed": seed,
        "command": "garrison " + " ".join([*command[:4], *command[6:]]),
        "seconds": rows[-1]["time/elapsed_time"],
        "steps": rows[-1]["step"],
        "curve": curve,
        "evaluation": {**summary["evaluation"], "agent": preset},
        "action_mix": summary["action_mix"],
    }


def ship(folder: Path, run: dict[str, Any], path: Path) -> None:
    """Write the agent of a run folder with nothing but what it needs to play, and what made it."""
    values = checkpoint.load(folder)
    values["experiment"]["run"]["out"] = ""  # the folder's place means nothing elsewhere
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.save(
        path,
        {
            "experiment": values["experiment"],
            "policy": values["policy"],
            "state": {"weights": values["state"]["weights"], "steps": values["state"]["steps"]},
            "made_by": run["command"],
            "evaluation": {name: run["evaluation"][name] for name in ("rules", "episodes", "seed", "total", "ci95")},
        },
    )


def passed(curve: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the seconds after which the curve first stood above each row of the leaderboard, and stayed there."""
    times: dict[str, float | None] = {}
    for row in leaderboard.leaderboard():
        below = [k for k, point in enumerate(curve) if point["total"] <= row.total]
        first = below[-1] + 1 if below else 0
        times[str(row.rank)] = curve[first]["seconds"] if first < len(curve) else None
    return times


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    """Draw the official total against wall time and steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.4), layout="constrained", dpi=120)
    axes = figure.subplots(1, 2, sharey=True)
    colours = {"record": "#0072b2", "record-head": "#d55e00"}
    for axis, (key, label, scale) in zip(
        axes, (("seconds", "wall time, minutes", 60.0), ("step", "environment steps, millions", 1e6)), strict=True
    ):
        for preset in dict.fromkeys(run["preset"] for run in runs):
            for k, run in enumerate(r for r in runs if r["preset"] == preset):
                points = [p for p in run["curve"] if p["total"] > -200]
                axis.plot(
                    [p[key] / scale for p in points],
                    [p["total"] for p in points],
                    color=colours.get(preset, "#5b5b5b"),
                    alpha=0.85,
                    linewidth=1.3,
                    label=preset if k == 0 else None,
                )
        axis.axhline(-54.57, color="#333333", linewidth=1, linestyle="--")
        axis.text(
            0.99, -55.2, "winner of the challenge, -54.57", ha="right", va="top", transform=axis.get_yaxis_transform()
        )
        axis.set_xlabel(label)
        axis.set_ylim(-100, -42)
        axis.grid(True, color="#dddddd", linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("official total (nine cells)")
    axes[0].legend(loc="lower right", frameon=False)
    figure.savefig(path)


def main(arguments: list[str]) -> int:
    """Run the bench."""
    import tyro

    from garrison.system import require

    options = tyro.cli(Options, args=arguments, prog="garrison bench record")
    if options.quick:
        options = replace(options, presets=options.presets[:1], seeds=1, steps=200_000, every=200_000)
    if options.out is not None:
        require("matplotlib")
        options.out.mkdir(parents=True, exist_ok=True)
    name = "record-ablation" if options.ablate else "record"
    method = {"command": command_line(), "date": datetime.now(UTC).isoformat(timespec="seconds")}
    variants = ABLATIONS if options.ablate else {"": []}
    runs: list[dict[str, Any]] = []
    facts = system.facts()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        for preset in options.presets:
            for variant, flags in variants.items():
                for seed in range(options.seeds):
                    run = train(preset, seed, options, folder, flags)
                    runs.append(run | {"variant": variant, "passed": passed(run["curve"])})
                    total = run["evaluation"]
                    what = f"{preset}, {variant}" if variant else preset
                    print(
                        f"{what}, seed {seed}: {total['total']:.2f} ± {total['ci95']:.2f} after {run['seconds']:.0f} s"
                    )
                    if options.out is not None:  # after every run: an interrupt costs only the one that it hits
                        write_json(options.out / f"{name}.json", {"machine": facts, "method": method, "runs": runs})
            if options.ship is not None:
                best = max((r for r in runs if r["preset"] == preset), key=lambda r: float(r["evaluation"]["total"]))
                ship(folder / f"{preset}-{best['seed']}", best, options.ship / f"{preset}.garrison")
    if options.out is not None:
        announce(options.out, name)
        if not options.ablate:
            draw(runs, options.out / "record.png")
            print(f"wrote {options.out / 'record.png'}")
    return 0
