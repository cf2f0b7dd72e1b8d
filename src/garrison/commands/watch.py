"""`garrison watch AGENT`: episodes of a defender, step by step, as one offline page, JSON, text or pictures."""

import re
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.cage2.names import DEFAULT_LENGTH
from garrison.commands.progress import progress
from garrison.episodes.alternatives import CONTINUATIONS
from garrison.episodes.challenge_text import to_challenge_text
from garrison.episodes.choosing import CHOSEN_FROM
from garrison.episodes.cynex import to_cynex
from garrison.episodes.episode import Episode
from garrison.episodes.episode_files import PAGE, SUFFIXES, is_recording, write_json_file
from garrison.episodes.game import DEFAULT_WATCHED_RED
from garrison.episodes.watching import Watched, watch
from garrison.errors import UserError
from garrison.storage.atomic import write_text
from garrison.text import plural, short
from garrison.workflow.orders import index_of, parse_order

ALL_STEPS = "all"


@dataclass(frozen=True)
class Arguments:
    """Play an episode of CAGE-2 and look at it: what is true, what Blue believes, what it did and what that cost."""

    agent: Annotated[str, tyro.conf.arg(metavar="AGENT")]
    """Anything that garrison evaluate takes; a run on workflows or a scripted agent that follows an order; or a file
    that this command wrote (.json, .json.gz, .html)."""
    against: Annotated[str, tyro.conf.arg(metavar="OTHER")] = ""
    """Another agent: both play the same seed, side by side."""
    red: str = DEFAULT_WATCHED_RED
    """Who attacks: bline, meander, sleep, or a class of your own as module:Class."""
    length: int = DEFAULT_LENGTH
    """Steps of the episode."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = ""
    """The rules of the game. By default those that the agent was trained under, head for a scripted agent."""
    seed: int = 0
    """Decides every draw of the episode; with --worst, of the first of many episodes."""
    worst: Annotated[int, tyro.conf.arg(metavar="K")] = 0
    """Show the K worst of many episodes, and the median and the best."""
    episodes: int = CHOSEN_FROM
    """How many these are."""
    order: str = ""
    """Workflows: the order to follow: its number, its name, or units with commas between them. By default the first
    that the run was trained on."""
    sample: bool = False
    """Draw a network's actions instead of taking the likeliest."""
    what_if: Annotated[str, tyro.conf.arg(metavar="STEPS|all")] = ""
    """What other actions would have brought at these steps, such as 12 or 5,9,20-30, or at all. Steps count from 0."""
    top: Annotated[int, tyro.conf.arg(metavar="K")] = 0
    """What if: only the policy's K likeliest actions, and what was played; 0 for all 145."""
    continuations: int = CONTINUATIONS
    """What if: how often each action is tried, to the end of the episode."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where the page goes (.html); as .json or .json.gz the episodes alone. By default watch-AGENT-RED.html."""
    open: bool = False
    """Open the page in the browser."""
    json: bool = False
    """Write the episodes as JSON too, beside the page."""
    cynex: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the episode for the viewer Cynex too; of several, the first."""
    text: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the actions as the challenge's evaluation does, too."""
    png: Annotated[tuple[int, ...], tyro.conf.arg(metavar="STEP")] = ()
    """Draw the network at these steps too, beside the page; 0 is after the reset. Of several episodes, the first."""
    gif: bool = False
    """Draw the episode as a short animated image too, beside the page. Of several episodes, the first."""


def main(arguments: list[str]) -> int:
    """Run `garrison watch`."""
    args = tyro.cli(
        Arguments,
        prog="garrison watch",
        args=with_all_steps(arguments),
        config=(tyro.conf.PositionalRequiredArgs,),
    )
    if args.png or args.gif:
        from garrison.system import require

        require("matplotlib")
    out = args.out or default_out(args.agent, args.red)
    if not is_recording(out):
        raise UserError(f"--out must end in {PAGE}, {' or '.join(SUFFIXES)}; got {out}.")
    watched = play(args)
    for episode in watched.episodes:
        print(summary(episode))
    for path in write(watched, out, args):
        print(f"wrote {path} ({short(path.stat().st_size)}B)")
    if args.open:
        webbrowser.open(out.resolve().as_uri())
    return 0


def play(args: Arguments) -> Watched:
    """Play what is asked for, or read it."""
    if is_recording(args.agent):
        settings = ("against", "red", "length", "rules", "seed", "worst", "order", "sample", "what_if")
        given = [name for name in settings if getattr(args, name) != getattr(Arguments, name)]
        if given:
            raise UserError(
                f"{args.agent} was recorded, so --{given[0].replace('_', '-')} has no effect: leave it out."
            )
        return watch(args.agent)
    with progress() as say:
        return watch(
            args.agent,
            args.against or None,
            red=args.red,
            length=args.length,
            rules=args.rules or None,
            seed=args.seed,
            worst=args.worst,
            episodes=args.episodes,
            order=index_of(parse_order(args.order)) if args.order else None,
            sample=args.sample,
            what_if=steps_of(args.what_if, args.length),
            top=args.top,
            continuations=args.continuations,
            say=say,
        )


def write(watched: Watched, out: Path, args: Arguments) -> list[Path]:
    """Write what is asked for; return the files."""
    first = watched.episodes[0]
    if args.png or args.gif:
        from garrison.report.episode_pictures import check_step, save_animation, save_step

        for step in args.png:
            check_step(first, step)
    stem = out.with_name(out.name.removesuffix(".gz")).with_suffix("")
    written = [watched.save(out)]
    if args.json and not str(out).endswith(SUFFIXES):
        written.append(watched.save(stem.with_name(f"{stem.name}.json")))
    if args.cynex is not None:
        written.append(write_json_file(args.cynex, to_cynex(first)))
    if args.text is not None:
        args.text.parent.mkdir(parents=True, exist_ok=True)
        write_text(args.text, to_challenge_text(watched.episodes))
        written.append(args.text)
    written += [save_step(first, step, stem.with_name(f"{stem.name}-{step}.png")) for step in args.png]
    if args.gif:
        with progress() as say:
            written.append(save_animation(first, stem.with_name(f"{stem.name}.gif"), say))
    return written


def summary(episode: Episode) -> str:
    """Return an episode in two lines."""
    found = episode.metrics
    parts = [f"{plural(len(found['intrusions']), 'intrusion')}"]
    if found["mean_time_to_clear"] is not None:
        mean = found["mean_time_to_clear"]
        parts.append(f"{found['cleared']} cleared, after {mean:g} step{'' if mean == 1 else 's'} on average")
    parts.append(f"{found['drawn_by_decoys']} of {plural(found['exploits'], 'exploit')} drawn by decoys")
    parts += [
        f"{name} precision {found[key]:.0%}"
        for name, key in (("Restore", "restore_precision"), ("Remove", "remove_precision"))
        if found[key] is not None
    ]
    if found["service_down"]:
        parts.append(f"service down for {plural(found['service_down'], 'step')}")
    if episode.workflow is not None:
        parts.append(f"compliance {episode.workflow['rate']:.0%} with {' → '.join(episode.workflow['order'])}")
    return f"{episode.title}: total {episode.total:g}\n  {'; '.join(parts)}"


def default_out(agent: str, red: str) -> Path:
    """Return where the page goes if nobody says: in this folder, under a name that any system can write."""
    if is_recording(agent):
        name = Path(agent).name.removesuffix(".gz").rpartition(".")[0]
        out = Path(f"{name}{PAGE}")
        if Path(agent).resolve() == out.resolve():
            raise UserError(f"the page of {agent} would be written over it: name another file with --out.")
        return out
    who = Path(agent).name if Path(agent).suffix == ".garrison" else agent
    words = [re.sub(r"[^\w.-]+", "-", word).strip("-.") for word in (who.removesuffix(".garrison"), red)]
    return Path(f"watch-{words[0]}-{words[1]}{PAGE}")


def steps_of(text: str, length: int) -> bool | list[int]:
    """Return the steps that `--what-if` names: True for all, False for none.

    >>> steps_of("5,9,20-22", 100), steps_of("all", 100), steps_of("", 100)
    ([5, 9, 20, 21, 22], True, False)
    """
    if text in ("", ALL_STEPS):
        return bool(text)
    steps: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, length)
        if found is None or not first <= last < length:
            raise UserError(f"--what-if takes steps from 0 to {length - 1}, such as 12 or 5,9,20-30; got {part!r}.")
        steps += range(first, last + 1)
    return steps


def with_all_steps(arguments: list[str]) -> list[str]:
    """Let `--what-if` without steps mean all of them."""
    found = []
    for word, following in zip(arguments, [*arguments[1:], "-"], strict=True):
        found.append(word)
        if word == "--what-if" and not re.match(r"\d|all$", following):
            found.append(ALL_STEPS)
    return found
