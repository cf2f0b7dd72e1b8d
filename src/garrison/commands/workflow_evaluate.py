"""`garrison workflow evaluate RUN|AGENT`: reward and compliance under every order, scripted defenders beside it."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.errors import UserError
from garrison.report.workflow_tables import write_scores
from garrison.tasks.cage2 import Cage2Settings
from garrison.workflow.defenders import BY_TRUTH, find_defender, scripted
from garrison.workflow.orders import ALL, NAMES, parse_orders
from garrison.workflow.play import Defender, play_orders
from garrison.workflow.scores import table
from garrison.workflow.settings import WorkflowConfig, WorkflowExperiment

BESIDE = ("greedy-restore", BY_TRUTH, "fixed-restore", "random-fix")


@dataclass(frozen=True)
class Arguments:
    """Play a defender under orders; report its environment reward and its compliance with each."""

    agent: Annotated[str, tyro.conf.arg(metavar="RUN|AGENT")]
    """A run of garrison workflow train, a search, a checkpoint, any agent that garrison evaluate knows, or a scripted
    one: greedy-restore, greedy-remove, greedy-by-truth, fixed-restore, fixed-remove or random-fix."""
    orders: tuple[str, ...] = ()
    """Numbers, names, units with commas between them, or all; by default those that the run was trained on."""
    episodes: int = 200
    """Episodes per order."""
    seed: int = 0
    """Decides every draw: the same seed gives the same result, and every order the same attackers."""
    red: str = ""
    """Who attacks, as in garrison train; by default as in training, or bline."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = ""
    """By default those of the training, or head."""
    length: int = 0
    """Steps of an episode; by default as in training, or 100."""
    definition: Annotated[str, tyro.conf.arg(metavar="state|history")] = ""
    """When a fix complies; by default as in training, or state."""
    foothold: Annotated[str, tyro.conf.arg(metavar="ignore|count")] = ""
    """Whether User0 counts; by default as in training, or ignore."""
    baselines: bool = True
    """Show the scripted defenders beside it."""
    sample: bool = False
    """Draw a network's actions instead of taking the likeliest."""
    csv: str = ""
    """Write the table to this file too."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: list[str]) -> int:
    """Run `garrison workflow evaluate`."""
    args = tyro.cli(
        Arguments, prog="garrison workflow evaluate", args=arguments, config=(tyro.conf.PositionalRequiredArgs,)
    )
    if args.episodes < 2:
        raise UserError(f"an order needs at least 2 episodes to estimate its error; got {args.episodes}.")
    wanted = parse_orders(args.orders) if args.orders else None
    defender, experiment = find_defender(args.agent, args.sample)
    env, workflow = _settings(args, experiment)
    orders = wanted or list(workflow.orders) or parse_orders([ALL])
    defenders: dict[str, Defender] = {defender.name: defender}
    if args.baselines:
        defenders |= {name: scripted(name) for name in BESIDE if name != defender.name}
    tables = {
        name: play_orders(one, env, workflow, orders, args.episodes, args.seed) for name, one in defenders.items()
    }
    if args.csv:
        write_scores(Path(args.csv), [score.to_dict() for score in tables[defender.name]], NAMES)
    if args.json:
        rows = {name: [score.to_dict() for score in scores] for name, scores in tables.items()}
        about = {"agent": defender.name, "episodes": args.episodes, "seed": args.seed, "env": dataclasses.asdict(env)}
        print(json.dumps({**about, "scores": rows}))
    else:
        print(table(tables, env, args.episodes, args.seed))
    return 0


def _settings(args: Arguments, experiment: WorkflowExperiment) -> tuple[Cage2Settings, WorkflowConfig]:
    env = {name: getattr(args, name) for name in ("red", "rules", "length") if getattr(args, name)}
    workflow = {name: getattr(args, name) for name in ("definition", "foothold") if getattr(args, name)}
    return dataclasses.replace(experiment.env, **env), dataclasses.replace(experiment.workflow, **workflow)
