"""The worst, the median and the best of many episodes, by their totals."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from garrison.episodes.episode import Episode
from garrison.episodes.game import Game
from garrison.episodes.recording import play, record
from garrison.errors import UserError

if TYPE_CHECKING:
    from garrison.agents import Agent

CHOSEN_FROM = 1000
_PLACES = ("", "2nd ", "3rd ")


def choose_episodes(
    agent: "Agent",
    game: Game,
    worst: int = 1,
    episodes: int = CHOSEN_FROM,
    seed: int = 0,
    reference: str = "",
    say: Callable[[str], None] = lambda text: None,
) -> list[Episode]:
    """Play many episodes and record the worst, the median and the best.

    Args:
        agent: who defends.
        game: what is played.
        worst: how many of the worst, the very worst first.
        episodes: how many are played; they have the seeds `seed`, `seed + 1`, ...
        seed: of the first episode.
        reference: what loads the agent again.
        say: is told what is being played.
    """
    if not 1 <= worst <= episodes:
        raise UserError(f"of {episodes} episodes the worst 1 to {episodes} can be shown; got {worst}.")
    say(f"{episodes:,} episodes of {game.length} steps")
    played = play(agent, game, range(seed, seed + episodes))
    chosen = worst_median_best(played.totals, worst)
    say(f"recording {len(chosen)} of {episodes:,} episodes")
    return record(agent, game, played.only([*chosen]), reference, list(chosen.values()))


def worst_median_best(totals: NDArray[np.float64], worst: int = 1) -> dict[int, str]:
    """Return which episodes to show, and why each: the `worst` worst, the very worst first, the median and the best."""
    order = np.argsort(totals, kind="stable")
    names = [(int(order[k]), f"{_place(k)}worst") for k in range(worst)]
    names += [(int(order[(len(totals) - 1) // 2]), "median"), (int(order[-1]), "best")]
    chosen: dict[int, str] = {}
    for row, name in names:  # of a few episodes, one may be several of these
        chosen.setdefault(row, f"{name} of {len(totals):,}")
    return chosen


def _place(k: int) -> str:
    return _PLACES[k] if k < len(_PLACES) else f"{k + 1}th "
