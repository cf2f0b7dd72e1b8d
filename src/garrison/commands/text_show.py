"""`garrison text show`: what a model is shown, without a model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from garrison.agents import load_agent
from garrison.cage2.env import Env
from garrison.cage2.names import DEFAULT_RULES
from garrison.challenge.evaluation import check_agent
from garrison.contract import resets
from garrison.episodes.game import DEFAULT_WATCHED_RED
from garrison.text.contest import DEFAULT_CONTEST_LENGTH
from garrison.text.notebook import DEFAULT_HISTORY, DEFAULT_VIEW, Notebook, Telling
from garrison.text.prompts import DEFAULT_ANSWER, instructions, read_template, tool

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Arguments:
    """Print what a model would be shown: the instructions, the tool, and some turns that another agent plays."""

    agent: str = "react-restore"
    """Who plays: anything that garrison evaluate takes."""
    turns: int = 3
    """How many turns are shown."""
    red: str = DEFAULT_WATCHED_RED
    """Who attacks: bline, meander, sleep, or a class of your own as module:Class."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = DEFAULT_RULES
    """The rules of the game."""
    seed: int = 0
    """Decides every draw of the episode."""
    view: Annotated[str, tyro.conf.arg(metavar="table|json|sentences")] = DEFAULT_VIEW
    """How the observation is told."""
    history: int = DEFAULT_HISTORY
    """How many of the last turns are told."""
    legal: bool = True
    """Say which decoys would be accepted now."""
    rename: Annotated[str, tyro.conf.arg(metavar="SCHEME|FILE")] = ""
    """Other names of hosts: neutral, roles, shuffled, with a seed as in neutral:7; or a JSON file."""
    answer: Annotated[str, tyro.conf.arg(metavar="tool|text")] = DEFAULT_ANSWER
    """How the model answers: by a tool call, or by the action in words."""
    prompt: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Other instructions; {network}, {costs}, {observations}, {actions} and {answer} stand for the parts of ours."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: list[str]) -> int:
    """Run `garrison text show`."""
    args = tyro.cli(Arguments, prog="garrison text show", args=arguments)
    telling = Telling(args.view, args.history, args.legal, args.rename)
    template = read_template(args.prompt) if args.prompt else ""
    shown = {"instructions": instructions(telling.names, args.rules, args.answer, template)}
    if args.answer == "tool":
        shown["tool"] = json.dumps(tool(telling.names))
    shown |= {f"turn {k + 1}": text for k, text in enumerate(turns_of(args, telling))}
    if args.json:
        print(json.dumps(shown))
        return 0
    for name, text in shown.items():
        tokens = f"{len(text):,} characters, about {len(text) // CHARACTERS_PER_TOKEN:,} tokens"
        print(f"--- {name} ({tokens})\n{text}\n")
    return 0


def turns_of(args: Arguments, telling: Telling) -> list[str]:
    """Play some turns and return how each is told."""
    count = resets.whole("turns", args.turns, 1, 1000)
    agent = load_agent(args.agent)
    check_agent(agent)
    env = Env(red=args.red, rules=args.rules, length=max(count, DEFAULT_CONTEST_LENGTH), encoder=agent.encoder)
    bits, _ = env.reset(seed=resets.whole("seed", args.seed, 0, 2**64 - 1))
    agent.begin(1, seed=args.seed)
    notebook = Notebook(telling, args.rules)
    notebook.begin(bits)
    texts = [notebook.text()]
    while len(texts) < count:
        action = int(np.asarray(agent.act(bits[None]))[0])
        bits = env.step(action)[0]
        notebook.add(action, bits)
        texts.append(notebook.text())
    return texts
