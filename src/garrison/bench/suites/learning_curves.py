"""`garrison bench learning`: do we learn as well as Stable-Baselines3 with the same settings?

Each run is a fresh process with one thread, as many at a time as there are cores: a curve by steps does not depend on
the clock. A finished run is kept at once, so an interrupted suite continues where it was.
"""

import hashlib
import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from garrison import system
from garrison.bench.method.fresh_process import FreshProcess
from garrison.bench.method.labels import GARRISON, Labels, name_of
from garrison.bench.method.measure import provenance
from garrison.bench.method.terminal import print_table
from garrison.bench.publish import stored
from garrison.bench.publish.keep import keep
from garrison.bench.publish.learning_rows import HEADER, end, verdicts
from garrison.bench.suites.arguments import CommonArguments
from garrison.bench.suites.learning_jobs import JOBS, LearningJob
from garrison.bench.suites.learning_runs import SIDES
from garrison.errors import UserError, choose

RESULT = "learning"
MUJOCO = "Hopper-v5"
"""The one that needs MuJoCo."""
POLL = 0.1  # seconds


@dataclass(frozen=True)
class Arguments(CommonArguments):
    """Train PPO and Stable-Baselines3's PPO with the same settings and compare their learning curves."""

    env: str = "all"
    """One of the environments, or all."""
    seeds: int = 5
    """Runs of each side on each environment."""
    processes: int = 0
    """Runs at a time; 0 means one for each core."""


class Order(NamedTuple):
    """A run that is wanted."""

    labels: Labels
    job: LearningJob
    made_by: dict[str, Any]
    """What its curve depends on besides the settings: a run by anything else is made again."""


def run(arguments: Arguments) -> int:
    """Train what is not there yet, keep every run when it is done, and print the verdicts."""
    system.require("torch", "stable_baselines3")
    if arguments.env == "all" and (said := system.missing("mujoco")):
        print(f"{MUJOCO} is left out: {said}")
    orders = _orders(arguments)
    before = _stored_runs(arguments.out)
    done = [run for run in before if any(_answers(run, order) for order in _orders(arguments, "all"))]
    missing = [order for order in orders if not any(_answers(run, order) for run in done)]
    if len(missing) < len(orders):
        print(f"{len(orders) - len(missing)} of {len(orders)} runs are there already, by this code and these settings")
    result = {"machine": system.facts(), "method": provenance(), "runs": done}
    failed = 0
    for order, outcome in _train(missing, arguments.processes or system.cores()):
        if isinstance(outcome, str):
            failed += 1
            print(f"{name_of(order.labels)}: failed: {outcome.splitlines()[-1]}", flush=True)
            continue
        made = {"labels": order.labels, "settings": asdict(order.job), "made_by": order.made_by, **outcome}
        done.append(made)
        done.sort(key=lambda run: _place(run["labels"]))
        reached = end(made)
        said = "no episode ended" if reached is None else f"{reached:.1f} at the end"
        print(f"{name_of(order.labels)}: {said}, after {outcome['seconds']:.0f} s", flush=True)
        keep(arguments.out, RESULT, result)
    print_table("return, mean and 95 % confidence over the seeds", HEADER, verdicts(result), text=HEADER[-1:])
    return 1 if failed else 0


def _orders(arguments: Arguments, env: str | None = None) -> list[Order]:
    env = arguments.env if env is None else env
    names = list(JOBS) if env == "all" else [choose("env", env, ["all", *JOBS])]
    if env == MUJOCO:
        system.require("mujoco")
    elif env == "all" and system.missing("mujoco"):
        names.remove(MUJOCO)
    if arguments.seeds < 1:
        raise UserError(f"seeds cannot be {arguments.seeds}: give a positive number.")
    jobs = [JOBS[name].shortened() if arguments.quick else JOBS[name] for name in names]
    seeds = range(min(2, arguments.seeds) if arguments.quick else arguments.seeds)
    versions = system.versions()
    made_by = {who: {"versions": versions} | ({"learn": _learn_hash()} if who == GARRISON else {}) for who in SIDES}
    # The longest first within a seed, so that the last runs to end are short ones.
    jobs = sorted(jobs, key=lambda job: -job.steps)
    return [
        Order({"env": job.env, "who": who, "seed": seed}, job, made_by[who])
        for seed in seeds
        for job in jobs
        for who in SIDES
    ]


def _train(orders: list[Order], processes: int) -> Iterator[tuple[Order, dict[str, Any] | str]]:
    """Yield every order with what became of it, in the order in which they end."""
    waiting = list(orders)
    running: list[tuple[Order, FreshProcess]] = []
    with ExitStack() as stack:
        while waiting or running:
            while waiting and len(running) < processes:
                order = waiting.pop(0)
                given = {"who": order.labels["who"], "job": asdict(order.job), "seed": order.labels["seed"]}
                process = FreshProcess("garrison.bench.suites.learning_runs:train", given)
                running.append((order, stack.enter_context(process)))
            ended = [pair for pair in running if pair[1].has_ended]
            running = [pair for pair in running if pair not in ended]
            for order, process in ended:
                yield order, process.outcome()
            if not ended:
                time.sleep(POLL)


def _stored_runs(out: Path | None) -> list[dict[str, Any]]:
    if out is None or not (out / f"{RESULT}.json").exists():
        return []
    runs: list[dict[str, Any]] = stored.load(out, RESULT).get("runs", [])
    return runs


def _answers(run: dict[str, Any], order: Order) -> bool:
    wanted = {"labels": order.labels, "settings": asdict(order.job), "made_by": order.made_by}
    return all(run.get(key) == value for key, value in wanted.items())


def _place(labels: Labels) -> tuple[float, ...]:
    names, sides = list(JOBS), list(SIDES)
    env = names.index(labels["env"]) if labels["env"] in names else math.inf
    return env, sides.index(labels["who"]), labels["seed"]


def _learn_hash() -> str:
    """Hash the learners' sources: their curves depend on nothing else of ours that has no version."""
    digest = hashlib.sha256()
    for file in sorted((system.SOURCES / "learn").rglob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
