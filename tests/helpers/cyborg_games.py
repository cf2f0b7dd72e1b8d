"""Games of the drop-in for tests, without the package named CybORG: stock agents of our own, and short ways to play."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from typing import Any

from garrison.cage2.names import HOSTS
from garrison.cyborg.action_base import Action, Sleep
from garrison.cyborg.controller import Controller
from garrison.cyborg.image_facts import RED
from garrison.cyborg.red_actions import DiscoverRemoteSystems

USER_SUBNET = 2


class Sleeper:
    """Stands for the stock agent that only sleeps."""


class Line:
    """Stands for the stock agent that the simulator plays as B_line."""


class Wanderer:
    """Stands for the stock agent that the simulator plays as Meander."""


SCRIPTS = {Line: "bline", Wanderer: "meander"}


class Noted:
    """An agent inside that notes how it is called, and plays what it is given."""

    calls: list[tuple[str, Any]]
    plays: Iterator[Action]

    def __init__(self) -> None:
        self.calls.append(("made", None))

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        self.calls.append(("values", sorted(action_space)))

    def get_action(self, observation: Any, action_space: Any) -> Action:
        self.calls.append(("asked", dict(observation)))
        return next(self.plays, Sleep())

    def train(self, results: Any) -> None:
        self.calls.append(("trained", results))

    def end_episode(self) -> None:
        self.calls.append(("ended", None))


def noted(*plays: Action) -> Any:
    """Return a new class of agents that play these actions and then sleep."""
    return type("Agent", (Noted,), {"calls": [], "plays": iter(plays)})


def new_game(seed: int = 0, rules: str = "head", **agents: type) -> Controller:
    """Return a game that was made right after seeding Python's generator."""
    random.seed(seed)
    return Controller(rules, agents, Sleeper, SCRIPTS)


def address(game: Controller, name: str) -> IPv4Address:
    """Return a host's address."""
    return game.network.addresses[HOSTS.index(name)]


def sweep(game: Controller) -> None:
    """Let Red find the addresses of its own subnet."""
    game.step(RED, DiscoverRemoteSystems(0, RED, game.network.subnets[USER_SUBNET]))


@contextmanager
def kept_generator() -> Iterator[None]:
    """Leave Python's generator as it was."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
