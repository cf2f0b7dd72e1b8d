"""A vector environment's steps, counted inside its environments: each writes a letter into a file that all share."""

import os
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from garrison.bench.method.fresh_process import Report
from garrison.bench.suites import peer_vectors, stepping
from garrison.bench.synthetic import Synthetic


class Counted(Synthetic):
    """Writes an "s" for every step and an "r" for every reset."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._tally = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Write, and begin an episode."""
        os.write(self._tally, b"r")
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Write, and step."""
        os.write(self._tally, b"s")
        return super().step(action)


def advance(report: Report, workload: str, arguments: dict[str, Any], file: str, steps: int) -> None:
    """Advance a workload of such environments until it says that it has done so many steps."""

    def make_counted(*_: Any) -> Any:
        return partial(Counted, file)

    stepping.maker = peer_vectors.maker = make_counted
    module, _, function = workload.partition(":")
    told = 0
    with getattr(import_module(module), function)(env="synthetic", options={}, **arguments) as work:
        before = Path(file).read_bytes().count(b"s")  # `auto` tries what it is given
        while told < steps:
            told += work.advance()
        report({"told": told, "before": before})


def elapsed(report: Report, arguments: dict[str, Any], times: int) -> None:
    """Advance EnvPool's Pendulum so many times; report what it told, and the steps that its environments then know."""
    import envpool

    from garrison.bench.suites import classic_control

    made = []
    make = envpool.make_gymnasium

    def make_seen(*args: Any, **kwargs: Any) -> Any:
        made.append(make(*args, **kwargs))
        return made[-1]

    envpool.make_gymnasium = make_seen
    with classic_control.envpool(env="Pendulum-v1", **arguments) as work:
        told = sum(work.advance() for _ in range(times))
        if arguments["kind"] == "sync":
            infos = made[0].step(made[0].action_space.sample()[None].repeat(arguments["num_envs"], 0))[4]
        else:
            infos = made[0].recv()[4]
        report({"told": told, "elapsed": infos["elapsed_step"].tolist()})
