"""`garrison conformance`: replay recorded CybORG episodes on their own random draws and compare everything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.cage2.traces import load_trace
from garrison.challenge.conformance import ReplayResult, replay
from garrison.errors import UserError


@dataclass(frozen=True)
class Arguments:
    """Replay recorded CybORG episodes on their own random draws and compare every value of every step.

    The exit code is 1 if anything differs.
    """

    files: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE.npz")]
    """Recorded episodes, in the form that tests/golden/README.md describes."""


def main(arguments: list[str]) -> int:
    """Run `garrison conformance`."""
    args = tyro.cli(Arguments, prog="garrison conformance", args=arguments, config=(tyro.conf.PositionalRequiredArgs,))
    if not args.files:
        raise UserError("give at least one trace file, such as tests/golden/*.npz.")
    width = max(len(str(file)) for file in args.files)
    whole = ReplayResult()
    for file in args.files:
        trace = load_trace(file)
        found = replay(trace)
        print(
            f"{file!s:<{width}}  {trace.rules:<11} {trace.red:<8} {trace.length:>3} steps  "
            f"{found.episodes:>5} episodes  {found.total:>6} mismatches",
            flush=True,
        )
        whole.add(found)
    print(f"{whole.episodes} episodes, {whole.steps} steps, both encoders: {whole.total} mismatches")
    if whole.first is not None:
        print("by field: " + ", ".join(f"{name} {count}" for name, count in sorted(whole.mismatches.items())))
        print(whole.first)
    return 1 if whole.total else 0
