"""`garrison evaluate AGENT`: the score of a scripted agent, a shipped one, a run or a checkpoint."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from garrison.agents import load_agent
from garrison.cage2.names import SCRIPTED_REDS
from garrison.challenge import leaderboard
from garrison.challenge.cyborg_script import SCRIPT_EPISODES, play_script
from garrison.challenge.evaluation import Evaluation
from garrison.commands.progress import progress
from garrison.errors import UserError
from garrison.runs.scoring import evaluate


@dataclass(frozen=True)
class Arguments:
    """Score a defender by the challenge's protocol: 3 lengths x 3 attackers x 1000 episodes. A run on another
    environment is scored by the mean return of whole episodes."""

    agent: Annotated[str, tyro.conf.arg(metavar="AGENT")]
    """A scripted agent (sleep, random, react-remove, react-restore, alert-remove, alert-restore), a shipped one
    (record, record-head; with a belief record-belief, record-belief-head), one with a search before each decision
    (record-search, record-search-head; or with another budget than 10 ms record-search@1ms, record-search@50ms), one
    that acts by the game's values (record-values, record-values-head), a run folder or a checkpoint."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = ""
    """The rules of the game. By default those that the agent was trained under, head for a scripted agent."""
    episodes: int | None = None
    """Episodes per cell, per attacker and length: by default 1000. On other environments, episodes in all: by default
    100, or 3 with --video."""
    seed: int = 0
    """Decides every draw: the same seed gives the same result."""
    red: str = ",".join(leaderboard.EVALUATED_REDS)
    """Who attacks: names, run folders or checkpoints of trained attackers, and classes of your own as module:Class.
    Each attacker is played apart, so shares such as bline:0.7 have no meaning here."""
    length: tuple[int, ...] = leaderboard.LENGTHS
    """Steps per episode. Each length is played apart."""
    sample: bool = False
    """Draw a network's actions instead of taking the likeliest."""
    video: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Other environments: film the episodes into this folder. They are played one after the other."""
    cyborg_seed: int | None = None
    """CAGE-2: print the nine lines that the challenge's own evaluation script prints if `random.seed` is called with
    this number at its start. --episodes is its MAX_EPS, by default 100; --seed is for the agent's own draws."""
    json: bool = False
    """Print JSON instead of text. On other environments than CAGE-2 it has every episode's return and length."""


def main(arguments: list[str]) -> int:
    """Run `garrison evaluate`."""
    args = tyro.cli(
        Arguments, prog="garrison evaluate", args=with_commas(arguments), config=(tyro.conf.PositionalRequiredArgs,)
    )
    names = [part.partition(":")[0] for part in args.red.split(",")]
    if ":" in args.red and set(names) <= {*SCRIPTED_REDS}:
        raise UserError(f"each attacker is played apart: write --red {','.join(names)}, without shares.")
    agent = load_agent(args.agent, sample=args.sample)
    if args.cyborg_seed is not None:
        return _print_script(agent, args.cyborg_seed, args)
    with progress() as say:
        result: Any = evaluate(
            agent, args.rules or None, args.episodes, args.seed, args.red.split(","), args.length, say, args.video
        )
    print(json.dumps(result.to_dict()) if args.json else result.to_text())
    is_unranked = isinstance(result, Evaluation) and not result.is_official
    if not args.json and sys.stdout.isatty() and is_unranked:
        print("\nThe leaderboard is shown for the challenge's nine cells only.")
    return 0


def _print_script(agent: Any, cyborg_seed: int, args: Arguments) -> int:
    given = {
        "--red": tuple(args.red.split(",")) != leaderboard.EVALUATED_REDS,
        "--length": args.length != leaderboard.LENGTHS,
        "--video": args.video is not None,
        "--json": args.json,
    }
    for option in filter(given.get, given):
        raise UserError(f"--cyborg-seed plays and prints what the challenge's script does: leave out {option}.")
    episodes = SCRIPT_EPISODES if args.episodes is None else args.episodes
    with progress() as say:
        cells = list(play_script(agent, cyborg_seed, args.rules or None, episodes, args.seed, say))
    print("\n".join(map(str, cells)))
    return 0


def with_commas(arguments: list[str]) -> list[str]:
    """Accept `--red bline meander`, as it was written before `--red bline,meander`, with a notice."""
    if "--red" not in arguments:
        return arguments
    first = arguments.index("--red") + 1
    last = next((k for k in range(first, len(arguments)) if arguments[k].startswith("-")), len(arguments))
    if last - first < 2:
        return arguments
    joined = ",".join(arguments[first:last])
    print(f"garrison evaluate: write --red {joined}, with commas.", file=sys.stderr)
    return [*arguments[:first], joined, *arguments[last:]]
