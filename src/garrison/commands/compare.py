"""`garrison compare`: runs side by side; presets and files are trained first, one after the other, for equal times."""

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.errors import UserError
from garrison.report.comparison import facts, tell_apart, to_text
from garrison.report.comparison_page import comparison_page
from garrison.report.history import RunHistory
from garrison.runs.experiment import load_experiment, parse_duration
from garrison.runs.presets import preset
from garrison.storage.atomic import write_json


@dataclass(frozen=True)
class Arguments:
    """Put runs side by side: a table, and a page with return, speed, losses and time split.

    Presets and YAML files are trained first, for the same wall time each: garrison compare ppo-mixed impala-mixed
    --duration 10m. What follows -- goes to each of these trainings: -- --envs 32 --seed 1.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.arg(metavar="RUN|PRESET|FILE.yaml")]
    """Folders of runs, and what to train."""
    duration: str = ""
    """How long to train each preset and file: 90s, 10m, 1.5h."""
    out: str = "comparison"
    """Folder for comparison.html and comparison.json, and for the trained runs."""
    smooth: int = 10
    """Updates that a point of a curve is the mean of."""
    json: bool = False
    """Print the table as JSON instead."""


def main(arguments: list[str]) -> int:
    """Run `garrison compare`."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    arguments, flags = arguments[:cut], arguments[cut + 1 :]
    for old in {"--plots", "--no-plots"} & set(arguments):
        print(f"garrison compare: {old} does nothing any more: the curves are on the page.", file=sys.stderr)
        arguments.remove(old)
    args = tyro.cli(Arguments, prog="garrison compare", args=arguments, config=(tyro.conf.PositionalRequiredArgs,))
    if not args.runs:
        raise UserError("name the runs to compare: garrison compare RUN RUN...")
    out = Path(args.out)
    paths = plan(args, out, flags)
    code = 0
    for name, path in zip(args.runs, paths, strict=True):
        if path != Path(name):
            print(f"training {name} for {args.duration} in {path}", file=sys.stderr, flush=True)
            code = max(code, train(name, path, args.duration, flags))
    runs = tell_apart([RunHistory.read(path) for path in paths])
    table = [facts(run) for run in runs]
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "comparison.json", table)
    command = shlex.join(["garrison", "compare", *arguments, *(["--", *flags] if flags else [])])
    page = comparison_page(runs, table, args.smooth, command).write(out / "comparison.html")
    print(json.dumps(table) if args.json else f"{to_text(table)}\n\n{page}")
    return code


def plan(args: Arguments, out: Path, flags: list[str]) -> list[Path]:
    """Return each run's folder; refuse what cannot work before anything is trained."""
    paths = []
    for name in args.runs:
        path = Path(name)
        if path.is_dir():
            paths.append(path)
            continue
        if path.suffix in (".yaml", ".yml"):
            load_experiment(path)
        elif path.parent != Path() or path.exists():
            what = "is a file of another kind" if path.exists() else "does not exist"
            raise UserError(f"{name} {what}; name folders of runs, presets or YAML files.")
        else:
            preset(name)
        if not args.duration:
            raise UserError(f"{name} has to be trained first: say for how long, such as --duration 10m.")
        parse_duration(args.duration)
        paths.append(out / path.stem)
        if paths[-1].exists():
            raise UserError(f"there is a run in {paths[-1]}: compare that, or choose another folder with --out.")
    trained = [path for name, path in zip(args.runs, paths, strict=True) if path != Path(name)]
    if len(set(trained)) < len(trained):
        raise UserError("every run to train must have a name of its own; a preset or file is named twice.")
    if flags and not trained:
        raise UserError(f"nothing is trained here, so there is no use for {' '.join(flags)}.")
    return paths


def train(name: str, path: Path, duration: str, flags: list[str]) -> int:
    """Train in a process of its own, so that no run finds the machine warmer than another; return its exit code."""
    command = [sys.executable, "-m", "garrison", "train", name, "--duration", duration, "--out", str(path), *flags]
    child = subprocess.Popen(command, stdout=sys.stderr)
    try:
        code = child.wait()
    except KeyboardInterrupt:
        child.wait()  # the same Ctrl-C has reached it: it saves its checkpoint and ends
        raise
    if code and not (path / "metrics.jsonl").exists():
        raise UserError(f"training {name} failed (exit code {code}); what is finished is in {path.parent}.")
    return code
