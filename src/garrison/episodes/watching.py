"""Watch a defender: episodes as one offline page, from Python and in notebooks."""

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from garrison.agents.learned_red import find_red
from garrison.cage2.names import DEFAULT_LENGTH, DEFAULT_RULES, RULES
from garrison.challenge.evaluation import check_agent
from garrison.episodes.alternatives import CONTINUATIONS, what_if
from garrison.episodes.choosing import CHOSEN_FROM, choose_episodes
from garrison.episodes.episode import Episode
from garrison.episodes.episode_files import PAGE, SUFFIXES, is_recording, read_data, write_json_file
from garrison.episodes.game import DEFAULT_WATCHED_RED, Game, judged_by
from garrison.episodes.players import find_player
from garrison.episodes.recording import play, record
from garrison.errors import UserError, choose
from garrison.storage.atomic import write_text
from garrison.viewer import page

if TYPE_CHECKING:
    from garrison.agents import Agent
    from garrison.challenge.evaluation import OneRed

INLINE_HEIGHT = 860
"""Of the view in a notebook, in pixels"""


@dataclass(frozen=True)
class Watched:
    """Episodes to look at: shown in a notebook by themselves, saved as a page or as JSON."""

    episodes: list[Episode]
    title: str = ""
    pair: dict[str, Any] | None = None
    """`first_difference`: the first step in which the first two episodes' actions differ, None if there is none; the
    two are then shown side by side"""

    def data(self) -> dict[str, Any]:
        """Return what the page and the JSON file hold."""
        return {"title": self.title, "episodes": [one.to_dict() for one in self.episodes], "pair": self.pair}

    def html(self) -> str:
        """Return the page, one HTML file that needs nothing else."""
        return page(self.data())

    def save(self, path: str | Path) -> Path:
        """Write the page (`.html`) or the episodes (`.json`, `.json.gz`)."""
        path = Path(path)
        if str(path).endswith(SUFFIXES):
            return write_json_file(path, self.data())
        if path.suffix != PAGE:
            raise UserError(f"episodes are saved as {PAGE}, {' or '.join(SUFFIXES)}; got {path}.")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, self.html())
        return path

    def _repr_html_(self) -> str:
        source = html.escape(self.html(), quote=True)
        return (
            f'<iframe srcdoc="{source}" title="{html.escape(self.title, quote=True)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{INLINE_HEIGHT}px;border:0"></iframe>'
        )


def watch(
    what: "str | Path | Agent | Episode | Sequence[Episode]",
    against: "str | Agent | None" = None,
    *,
    red: "OneRed" = DEFAULT_WATCHED_RED,
    length: int = DEFAULT_LENGTH,
    rules: str | None = None,
    seed: int = 0,
    worst: int = 0,
    episodes: int = CHOSEN_FROM,
    order: int | None = None,
    sample: bool = False,
    what_if: bool | Iterable[int] = False,
    top: int = 0,
    continuations: int = CONTINUATIONS,
    say: Callable[[str], None] = lambda text: None,
) -> Watched:
    """Play an agent, or take recorded episodes, and return them to look at.

    Args:
        what: an agent or its name, run folder or checkpoint; a file of recorded episodes; or episodes.
        against: another agent, which plays the same seed beside the first.
        red: who attacks: a name, a trained attacker's run folder or checkpoint, a `garrison.cage2.RedAgent`, or
            `"module:Class"`.
        length: steps of the episode.
        rules: `head` or `leaderboard`; by default those that the agent was trained under.
        seed: of the episode, or of the first of many.
        worst: show that many of the worst of many episodes, and the median and the best.
        episodes: how many these are.
        order: the index of the order that fixes are judged by, for agents that follow a workflow.
        sample: draw a network's actions instead of taking the likeliest.
        what_if: what other actions would have brought: True for all turns, or some of them, counted from 0.
        top: of what if, only the policy's likeliest so many actions; 0 for all 145.
        continuations: of what if, how often each action is tried.
        say: is told what is being done.
    """
    if isinstance(what, Episode):
        return Watched([what], what.title)
    if isinstance(what, str | Path) and is_recording(what):
        data = read_data(what)
        return Watched([Episode.of(one) for one in data["episodes"]], data["title"], data["pair"])
    if isinstance(what, Sequence) and not isinstance(what, str):
        if not what or not all(isinstance(one, Episode) for one in what):
            raise UserError("watch takes an agent, a file of recorded episodes, or a list of episodes.")
        return Watched(list(what), what[0].title)
    if against is not None and worst:
        raise UserError("two agents are shown side by side in one episode each: leave out worst, or the other agent.")

    red = find_red(red)
    players = [_player(one, sample, order) for one in (what, against) if one is not None]
    rules = choose("rules", rules or getattr(players[0][0], "rules", None) or DEFAULT_RULES, RULES)
    steps = None if what_if is True else what_if or ()
    shown: list[Episode] = []
    for agent, workflow, reference in players:
        game = Game(red, length, rules, agent.encoder, workflow)
        if worst:
            found = choose_episodes(agent, game, worst, episodes, seed, reference, say)
        else:
            found = record(agent, game, play(agent, game, [seed]), reference)
        if what_if is not False:
            found = [_questioned(agent, game, one, steps, top, continuations, say) for one in found]
        shown += found
    first = shown[0]
    if against is None:
        title = first.title if not worst else f"{first.agent['name']} against {first.red}"
        return Watched(shown, title)
    title = f"{first.agent['name']} and {shown[1].agent['name']} against {first.red}, seed {seed}"
    return Watched(shown, title, {"first_difference": first_difference(*shown)})


def first_difference(one: Episode, other: Episode) -> int | None:
    """Return the first step in which Blue did something else in two episodes; None if there is none."""
    pairs = zip(one.turn["blue_action"], other.turn["blue_action"], strict=False)
    return next((t for t, (a, b) in enumerate(pairs) if a != b), None)


def _player(one: Any, sample: bool, order: int | None) -> tuple[Any, Any, str]:
    """Return an agent, the workflow that it is judged by, and what loads it again."""
    if isinstance(one, str | Path):
        agent, workflow = find_player(str(one), sample, order)
    else:
        agent, workflow = one, None if order is None else judged_by(order)
    check_agent(agent)
    return agent, workflow, str(one) if isinstance(one, str | Path) else agent.name


def _questioned(
    agent: Any,
    game: Game,
    episode: Episode,
    steps: Iterable[int] | None,
    top: int,
    continuations: int,
    say: Callable[[str], None],
) -> Episode:
    return replace(episode, what_if=what_if(agent, game, episode, steps, top, continuations, episode.seed, say))
