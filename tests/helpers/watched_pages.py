"""Recorded episodes as pages, for tests in a browser."""

from functools import cache
from pathlib import Path
from typing import Any

from garrison.agents import load_agent
from garrison.episodes import Game, play, record, what_if
from garrison.viewer import page

SEED = 7


@cache
def recorded(agent: str = "record", red: str = "meander", length: int = 100) -> dict[str, Any]:
    """Return an episode as JSON; it is shared, so copy what you change."""
    player = load_agent(agent)
    game = Game(red, length, "leaderboard", player.encoder, None)
    return record(player, game, play(player, game, [SEED]))[0].to_dict()


@cache
def questioned(length: int = 20, steps: tuple[int, ...] = (4, 9)) -> dict[str, Any]:
    """Return an episode of `record` that was asked what if at some of its turns, counted from 0."""
    player = load_agent("record")
    game = Game("meander", length, "leaderboard", player.encoder, None)
    episode = record(player, game, play(player, game, [SEED]))[0]
    return episode.to_dict() | {"what_if": what_if(player, game, episode, steps, continuations=4)}


def write_page(
    folder: Path, *episodes: dict[str, Any], title: str = "A page", pair: dict[str, Any] | None = None
) -> Path:
    """Write a page of these episodes."""
    file = folder / "page.html"
    file.write_text(page({"title": title, "episodes": list(episodes), "pair": pair}), encoding="utf-8")
    return file
