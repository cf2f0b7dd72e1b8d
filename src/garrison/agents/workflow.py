"""Scripted baselines that follow a workflow, or do not: what a learned policy has to beat.

None of them touches User0, whose foothold nothing removes. An `order` is anything that `Workflow.orders` takes: an
index for all environments, an index for each, or an (n, 5) array. Observations may be longer than 52 bits; the rest is
ignored.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.agents.protocol import Agent, Bits, Choices, Flags
from garrison.agents.scripted import FIRST_OF_BLOCK, MONITOR
from garrison.cage2.names import NUM_HOSTS, Host
from garrison.cage2.observe import BITS_PER_HOST, NUM_BITS
from garrison.cage2.truth import Truth
from garrison.cage2.workflow import UNIT_OF_HOST, order_table
from garrison.errors import choose

FIXES = tuple(FIRST_OF_BLOCK)
_HOSTS = np.array([h for h in range(NUM_HOSTS) if h != Host.USER0])


def _ranks(order: Any, num_envs: int) -> NDArray[np.int64]:
    """Return (n, 13): the place of each host's type in the order, 0 being the most urgent."""
    places: NDArray[np.int64] = np.argsort(order_table(order, num_envs), axis=1)[:, UNIT_OF_HOST]
    return places


class GreedyByOrder:
    """Fixes a host of the most urgent type that is compromised, and Monitors while none is.

    By default it goes by what it sees: a host counts as compromised while Blue's table says so. With `restore` that is
    any entry but No; a Remove leaves Unknown behind, so with `remove` it is User or Privileged. Among hosts of one type
    the first comes first. Given a batch's `truth` it goes by Red's sessions instead, as no entry to the challenge can;
    a `remove` then goes on for as long as a session that it cannot kill is there.
    """

    encoder = "challenge"
    rules = None

    def __init__(self, order: Any, fix: str = "restore", truth: Truth | None = None) -> None:
        self._first = FIRST_OF_BLOCK[choose("fix", fix, FIXES)]
        self._order, self._fix = order, fix
        self.truth = truth
        self.name = f"greedy-{fix}" if truth is None else f"greedy-{fix}-by-truth"

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Look up how urgent each host is."""
        self._ranks = _ranks(self._order, num_envs)

    def reset(self, mask: Flags) -> None:
        """There is nothing to forget: Blue's table remembers."""

    def act(self, observations: Bits) -> Choices:
        """Fix the most urgent compromised host of each environment."""
        held = self._seen(observations) if self.truth is None else self.truth.sessions > 0
        held[:, Host.USER0] = False
        targets = np.where(held, self._ranks, NUM_HOSTS).argmin(axis=1)
        return np.where(held.any(axis=1), self._first + targets, MONITOR)

    def _seen(self, observations: Bits) -> Flags:
        beliefs = observations[:, :NUM_BITS].reshape(-1, NUM_HOSTS, BITS_PER_HOST)[:, :, 2:]
        return np.asarray(beliefs.any(axis=2) if self._fix == "restore" else beliefs[:, :, 1] != 0)


class FixedOrder:
    """Fixes every host in turn, type by type in the order, and again, whatever happens."""

    encoder = "challenge"
    rules = None

    def __init__(self, order: Any, fix: str = "restore") -> None:
        self._first = FIRST_OF_BLOCK[choose("fix", fix, FIXES)]
        self._order = order
        self.name = f"fixed-{fix}"

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start every round with the most urgent type."""
        self._rounds = _HOSTS[np.argsort(_ranks(self._order, num_envs)[:, _HOSTS], axis=1, kind="stable")]
        self._steps = np.zeros(num_envs, np.int64)

    def reset(self, mask: Flags) -> None:
        """Start the round again."""
        self._steps[mask] = 0

    def act(self, observations: Bits) -> Choices:
        """Fix the next host of each round."""
        places = self._steps % len(_HOSTS)
        self._steps += 1
        actions: Choices = self._first + self._rounds[np.arange(len(places)), places]
        return actions


class RandomFix:
    """Draws a Remove or a Restore of any host."""

    name = "random-fix"
    encoder = "challenge"
    rules = None

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Seed the draws."""
        self._random = np.random.default_rng(seed)

    def reset(self, mask: Flags) -> None:
        """There is nothing to forget."""

    def act(self, observations: Bits) -> Choices:
        """Draw a fix for each environment."""
        firsts = self._random.choice(list(FIRST_OF_BLOCK.values()), len(observations))
        actions: Choices = firsts + self._random.choice(_HOSTS, len(observations))
        return actions


BASELINES: dict[str, Callable[[Any], Agent]] = {
    "greedy-restore": GreedyByOrder,
    "greedy-remove": lambda order: GreedyByOrder(order, "remove"),
    "fixed-restore": FixedOrder,
    "fixed-remove": lambda order: FixedOrder(order, "remove"),
    "random-fix": lambda order: RandomFix(),
}
"""Every baseline that sees only what Blue sees, made for an order."""
