"""`garrison conformance`: replay recorded CybORG episodes, on their draws or from their seeds, and compare values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from garrison.cage2.traces import load_trace
from garrison.challenge.conformance import RECORDINGS, ReplayResult, compiled_envs, replay, seeded_envs
from garrison.errors import UserError


@dataclass(frozen=True)
class Arguments:
    """Replay recorded CybORG episodes on their own random draws and compare every value of every step.

    The exit code is 1 if anything differs.
    """

    files: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="FILE.npz")] = ()
    """Recorded episodes, in the form that tests/golden/README.md describes; by default a selection that comes with the
    package."""
    engine: Literal["numba", "jax"] = "numba"
    """Which of the two simulators plays them."""
    from_seed: bool = False
    """Play them from their seeds alone, drawing as CybORG draws, instead of on their recorded draws."""


def main(arguments: list[str]) -> int:
    """Run `garrison conformance`."""
    args = tyro.cli(Arguments, prog="garrison conformance", args=arguments)
    files = args.files or tuple(sorted(RECORDINGS.glob("*.npz")))
    if not args.files:
        print("no files given: replaying the selection that comes with Garrison; a clone has more in tests/golden")
    names = {file: str(file) if args.files else file.name for file in files}
    width = max(map(len, names.values()))
    make_envs = _batch_of(args.engine, args.from_seed)
    whole = ReplayResult()
    for file in files:
        trace = load_trace(file)
        found = replay(trace, make_envs, trace.seeds() if args.from_seed else 0)
        print(
            f"{names[file]:<{width}}  {trace.rules:<11} {trace.red:<8} {trace.length:>3} steps  "
            f"{found.episodes:>5} episodes  {found.total:>6} mismatches",
            flush=True,
        )
        whole.add(found)
    print(f"{whole.episodes} episodes, {whole.steps} steps, both encoders: {whole.total} mismatches")
    if whole.first is not None:
        print("by field: " + ", ".join(f"{name} {count}" for name, count in sorted(whole.mismatches.items())))
        print(whole.first)
    return 1 if whole.total else 0


def _batch_of(engine: str, from_seed: bool) -> Any:
    """Return what makes the batch that a recording is replayed on."""
    if engine == "numba":
        return seeded_envs if from_seed else compiled_envs
    if from_seed:
        raise UserError("only the engine numba draws as CybORG does: leave out --engine jax, or --from-seed.")
    from garrison.jaxsim.taped_envs import TapedEnvs

    return TapedEnvs
