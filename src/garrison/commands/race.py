"""`garrison race PRESET PRESET... --duration 3m`: train each for the same time, one after the other; then compare."""

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.commands.compare import Output, put_side_by_side, without_plots
from garrison.errors import UserError
from garrison.runs.experiment import parse_duration
from garrison.runs.experiment_file import find_experiment


@dataclass(frozen=True)
class Arguments(Output):
    """Train presets and YAML files for the same wall time, one after the other, and put them side by side.

    Folders of finished runs may stand among them; they are only compared. What follows -- goes to each training:
    garrison race ppo-mixed impala-mixed --duration 10m -- --envs 32 --seed 1.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PRESET|FILE.yaml|RUN")] = ()
    """What to train, and folders of runs to compare it with."""
    duration: str = ""
    """How long to train each: 90s, 10m, 1.5h; compiling and starting up are not counted."""


def main(arguments: list[str]) -> int:
    """Run `garrison race`."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    arguments, flags = without_plots(arguments[:cut]), arguments[cut + 1 :]
    args = tyro.cli(Arguments, prog="garrison race", args=arguments)
    if not args.runs:
        raise UserError("name what to train: garrison race PRESET PRESET... --duration 10m")
    paths = plan(args)
    code = 0
    for name, path in zip(args.runs, paths, strict=True):
        if path != Path(name):
            print(f"training {name} for {args.duration} in {path}", file=sys.stderr, flush=True)
            code = max(code, train(name, path, args.duration, flags))
    put_side_by_side(paths, args, shlex.join(["garrison", "race", *arguments, *(["--", *flags] if flags else [])]))
    return code


def plan(args: Arguments) -> list[Path]:
    """Return each run's folder; refuse what cannot work before anything is trained."""
    paths = []
    for name in args.runs:
        path = Path(name)
        if path.is_dir():
            paths.append(path)
            continue
        if path.suffix not in (".yaml", ".yml") and (path.parent != Path() or path.exists()):
            what = "is a file of another kind" if path.exists() else "does not exist"
            raise UserError(f"{name} {what}; name folders of runs, presets or YAML files.")
        find_experiment(name)
        if not args.duration:
            raise UserError(f"{name} has to be trained first: say for how long, such as --duration 10m.")
        parse_duration(args.duration)
        paths.append(Path(args.out) / path.stem)
        if paths[-1].exists():
            raise UserError(f"there is a run in {paths[-1]}: compare that, or choose another folder with --out.")
    trained = [path for name, path in zip(args.runs, paths, strict=True) if path != Path(name)]
    if len(set(trained)) < len(trained):
        raise UserError("every run to train must have a name of its own; a preset or file is named twice.")
    if not trained:
        raise UserError("these are all trained: put them side by side with garrison compare.")
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
