"""`garrison watch AGENT`: episodes of a defender, step by step, as one offline page, JSON, text or pictures."""

import re
import sys
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
from garrison.episodes.episode_files import PAGE, SUFFIXES, is_recording, json_text, write_json_file
from garrison.episodes.game import DEFAULT_WATCHED_RED
from garrison.episodes.watching import Watched, watch
from garrison.errors import UserError
from garrison.formatting import plural, short
from garrison.storage.atomic import write_text
from garrison.workflow.orders import index_of, parse_order

ALL_TURNS = "all"


@dataclass(frozen=True)
class Arguments:
    """Play an episode of CAGE-2 and look at it: what is true, what Blue believes, what it did and what that cost."""

    agent: Annotated[str, tyro.conf.arg(metavar="AGENT")]
    """Anything that garrison evaluate takes; a run on workflows or a scripted agent that follows an order; or a file
    that this command wrote (.json, .json.gz, .html)."""
    against: Annotated[str, tyro.conf.arg(metavar="OTHER")] = ""
    """Another agent: both play the same seed, side by side."""
    red: str = DEFAULT_WATCHED_RED
    """Who attacks: bline, meander, sleep, the run folder or checkpoint of a trained attacker, or a class of your own as
    module:Class."""
    length: int = DEFAULT_LENGTH
    """Steps of the episode."""
    rules: Annotated[str, tyro.conf.arg(metavar="head|leaderboard")] = ""
    """The rules of the game. By default those that the agent was trained under, head for a scripted agent."""
    seed: int = 0
    """Decides every draw of the episode; with --worst, of the first of many episodes."""
    worst: Annotated[int, tyro.conf.arg(metavar="K")] = 0
    """Show the K worst of many episodes, and the median and the best."""
    episodes: int = CHOSEN_FROM
    """Episodes per agent that --worst chooses from."""
    order: str = ""
    """Workflows: the order to follow: its number, its name, or units with commas between them. By default the first
    that the run was trained on."""
    sample: bool = False
    """Draw a network's actions instead of taking the likeliest."""
    what_if: Annotated[str, tyro.conf.arg(metavar="TURNS|all")] = ""
    """What other actions would have brought in these turns, numbered as on the page from 1, such as 12 or 5,9,20-30; or
    in all."""
    top: Annotated[int, tyro.conf.arg(metavar="K")] = 0
    """What if: only the policy's K likeliest actions, and what was played; 0 for all 145."""
    continuations: int = CONTINUATIONS
    """What if: how often each action is tried, to the end of the episode."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where the page goes (.html); as .json or .json.gz the episodes alone. By default watch-AGENT-RED.html."""
    open: bool = False
    """Open the page in the browser."""
    json: bool = False
    """Print JSON instead of text. It is what a file of the episodes holds; a page is then written only to --out."""
    cynex: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the episode for the viewer Cynex too; of several, the first."""
    text: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the actions as the challenge's evaluation does, too."""
    png: Annotated[tuple[int, ...], tyro.conf.arg(metavar="TURN")] = ()
    """Draw the network after these turns too, beside the page; 0 is after the reset. Of several episodes, the first."""
    gif: bool = False
    """Draw the episode as a short animated image too, beside the page. Of several episodes, the first."""

    @property
    def writes_page(self) -> bool:
        """Whether there is more to do than to print JSON."""
        return self.out is not None or self.open or not self.json


def main(arguments: list[str]) -> int:
    """Run `garrison watch`."""
    args = tyro.cli(
        Arguments,
        prog="garrison watch",
        args=with_all_turns(arguments),
        config=(tyro.conf.PositionalRequiredArgs,),
    )
    if args.png or args.gif:
        from garrison.system import require

        require("matplotlib")
    out = args.out or default_out(args.agent, args.red)
    if not is_recording(out):
        raise UserError(f"--out must end in {PAGE}, {' or '.join(SUFFIXES)}; got {out}.")
    if args.writes_page and Path(args.agent).resolve() == out.resolve():
        raise UserError(f"the page of {args.agent} would be written over it: name another file with --out.")
    watched = play(args)
    if args.json:
        print(json_text(watched.data()))
    else:
        print("\n".join(map(summary, watched.episodes)))
    for path in write(watched, out, args):
        print(f"wrote {path} ({short(path.stat().st_size)}B)", file=sys.stderr if args.json else sys.stdout)
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
            what_if=turns_of(args.what_if, args.length),
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
    written = [watched.save(out)] if args.writes_page else []
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
        return Path(Path(agent).name.removesuffix(".gz").rpartition(".")[0] + PAGE)
    who = Path(agent).name if Path(agent).suffix == ".garrison" else agent
    words = [re.sub(r"[^\w.-]+", "-", word).strip("-.") for word in (who.removesuffix(".garrison"), red)]
    return Path(f"watch-{words[0]}-{words[1]}{PAGE}")


def turns_of(text: str, length: int) -> bool | list[int]:
    """Return the turns that `--what-if` names, counted from 0: True for all, False for none.

    >>> turns_of("5,9,20-22", 100), turns_of("all", 100), turns_of("", 100)
    ([4, 8, 19, 20, 21], True, False)
    """
    if text in ("", ALL_TURNS):
        return bool(text)
    turns: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, length)
        if found is None or not 1 <= first <= last <= length:
            raise UserError(f"--what-if takes turns from 1 to {length}, such as 12 or 5,9,20-30; got {part!r}.")
        turns += range(first - 1, last)
    return turns


def with_all_turns(arguments: list[str]) -> list[str]:
    """Let `--what-if` without turns mean all of them."""
    found = []
    for word, following in zip(arguments, [*arguments[1:], "-"], strict=True):
        found.append(word)
        if word == "--what-if" and not re.match(r"\d|all$", following):
            found.append(ALL_TURNS)
    return found
