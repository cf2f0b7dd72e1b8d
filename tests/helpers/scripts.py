"""Both sides by the book: a Blue and a Red that do what a test says, step by step."""

from typing import Any

import numpy as np

from garrison.agents.protocol import Agent
from garrison.cage2 import RedAgent
from garrison.cage2.names import HOSTS, SUBNETS, RedKind
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game
from garrison.episodes.recording import play, record
from tests.helpers.duel import ACTION


class BookBlue:
    """Does what it was told, then sleeps."""

    name = "book"
    encoder = "challenge"
    rules = None

    def __init__(self, *names: str) -> None:
        self._actions = [ACTION[name] for name in names]

    def begin(self, num_envs: int, seed: int = 0) -> None:
        self._t = 0

    def reset(self, mask: Any) -> None:
        raise AssertionError("episodes are played one at a time")

    def act(self, observations: Any) -> Any:
        self._t += 1
        action = self._actions[self._t - 1] if self._t <= len(self._actions) else 0
        return np.full(len(observations), action)


def book_red(*turns: str) -> RedAgent:
    """Return an attacker that does these, such as `exploit User1`, then sleeps; a Sleep that is empty may stand."""
    codes = []
    for turn in turns:
        kind, _, target = turn.partition(" ")
        code = getattr(RedKind, kind.upper())
        codes.append((code, SUBNETS.index(target) if code == RedKind.SWEEP else HOSTS.index(target) if target else 0))

    class BookRed(RedAgent):
        def act(self, view: Any) -> Any:
            t = view.t.astype(int)
            table = np.array([*codes, (RedKind.SLEEP, 0)])[np.minimum(t, len(codes))]
            return table[:, 0], table[:, 1]

    return BookRed()


def episode_of(agent: Agent, game: Game, seed: int = 0) -> Episode:
    """Play and record one episode."""
    return record(agent, game, play(agent, game, [seed]))[0]


def by_the_book(blue: list[str], red: list[str], seed: int = 0, **settings: Any) -> Episode:
    """Record what happens if both do as they are told, turn by turn."""
    length = max(len(blue), len(red))
    return episode_of(BookBlue(*blue), Game(book_red(*red), length, **settings), seed)
