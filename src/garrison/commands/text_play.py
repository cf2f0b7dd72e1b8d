"""`garrison text play`: a language model defends for some episodes; cheap baselines play the same ones."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from garrison.cage2.names import DEFAULT_RULES
from garrison.commands.progress import progress
from garrison.episodes.game import DEFAULT_WATCHED_RED
from garrison.errors import UserError
from garrison.text.contest import DEFAULT_CONTEST_LENGTH, DEFAULT_EPISODES, Contest
from garrison.text.contest_folder import PAGE, TRANSCRIPT
from garrison.text.contest_play import play_contest
from garrison.text.dialogue import DEFAULT_CHANCES, DEFAULT_FALLBACK
from garrison.text.endpoint import DEFAULT_KEY_ENV, DEFAULT_RETRIES, DEFAULT_TIMEOUT, Endpoint
from garrison.text.llm_agent import DEFAULT_PARALLEL
from garrison.text.notebook import DEFAULT_HISTORY, DEFAULT_VIEW, Telling
from garrison.text.prompts import DEFAULT_ANSWER, read_template
from garrison.text.spending import Price, Spending


@dataclass(frozen=True)
class Arguments:
    """Let a language model defend. The same command goes on where it was stopped."""

    endpoint: Annotated[str, tyro.conf.arg(metavar="URL")]
    """An OpenAI-compatible interface, such as http://localhost:11434/v1."""
    model: str
    """The model's name there."""
    red: str = DEFAULT_WATCHED_RED
    """Who attacks: names, and classes of your own as module:Class, each played apart."""
    length: tuple[int, ...] = (DEFAULT_CONTEST_LENGTH,)
    """Steps per episode. Each length is played apart."""
    episodes: int = DEFAULT_EPISODES
    """Episodes per cell, per attacker and length: the first of those that garrison evaluate plays."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = DEFAULT_RULES
    """The rules of the game."""
    seed: int = 0
    """Decides every draw of the game. What the model draws is its server's."""
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
    chances: int = DEFAULT_CHANCES
    """Answers that the model has for a turn: one that names no action is refused, and gets the reason back."""
    fallback: str = DEFAULT_FALLBACK
    """What is played, and counted, if all of them are refused."""
    baselines: Annotated[str, tyro.conf.arg(metavar="AGENTS")] = ""
    """Agents beside it, with commas, or none. By default sleep, random, react-restore and the record of these rules."""
    parallel: int = DEFAULT_PARALLEL
    """Episodes that are under way at once."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for an answer."""
    retries: int = DEFAULT_RETRIES
    """How often a request is sent again if it is refused for now, or fails."""
    key_env: Annotated[str, tyro.conf.arg(metavar="NAME")] = DEFAULT_KEY_ENV
    """The environment variable that has the key. Without it none is sent."""
    body: Annotated[str, tyro.conf.arg(metavar="JSON")] = ""
    """More for every request, such as '{"temperature": 0, "max_tokens": 500}'."""
    price: Annotated[tuple[float, float] | None, tyro.conf.arg(metavar="PROMPT COMPLETION")] = None
    """Of a million tokens, to tell the cost."""
    budget: float | None = None
    """Stop when this much is spent."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where the transcript, the results and the page go. By default text-MODEL, with the scheme of names."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: list[str]) -> int:
    """Run `garrison text play`."""
    args = tyro.cli(Arguments, prog="garrison text play", args=arguments)
    contest = Contest(
        Endpoint(args.endpoint, args.model, args.key_env, args.timeout, args.retries, body_of(args.body)),
        Telling(args.view, args.history, args.legal, args.rename),
        reds=args.red.split(","),
        lengths=args.length,
        episodes=args.episodes,
        rules=args.rules,
        seed=args.seed,
        answer=args.answer,
        chances=args.chances,
        fallback=args.fallback,
        template=read_template(args.prompt) if args.prompt else "",
        parallel=args.parallel,
        baselines=baselines_of(args.baselines),
    )
    spending = Spending(Price(*args.price) if args.price else None, args.budget)
    out = args.out or default_out(args.model, args.rename)
    with progress() as say:
        standings = play_contest(contest, out, spending, say)
    print(json.dumps(standings.to_dict()) if args.json else standings.to_text())
    where = f"{out / TRANSCRIPT} has every word; {out / PAGE} shows the worst, median and best episode."
    print(f"\n{where}" if not args.json else where, file=sys.stderr if args.json else sys.stdout)
    return 0


def body_of(text: str) -> dict[str, Any]:
    """Return what `--body` adds to requests."""
    try:
        values = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:
        raise UserError(f"--body is no JSON: {str(error)[:80]}.") from None
    if not isinstance(values, dict):
        raise UserError("--body must be a JSON object, such as '{\"temperature\": 0}'.")
    return values


def baselines_of(text: str) -> tuple[str, ...] | None:
    """Return the agents that `--baselines` names; None for the usual ones."""
    if text == "none":
        return ()
    return tuple(part.strip() for part in text.split(",")) if text else None


def default_out(model: str, rename: str) -> Path:
    """Return the folder of a contest if nobody says, under a name that any system can write.

    >>> str(default_out("org/model:8b", "neutral:7"))
    'text-org-model-8b-neutral-7'
    """
    words = [re.sub(r"[^\w.-]+", "-", word).strip("-.") for word in (model, Path(rename).stem if rename else "")]
    return Path("-".join(["text", *filter(None, words)])[:200])
