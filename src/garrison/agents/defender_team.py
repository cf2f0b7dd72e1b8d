"""Who defends while an attacker learns: one frozen agent, or several that share the environments."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from garrison.agents.load import load_agent
from garrison.agents.protocol import Agent, Bits, Choices, Flags
from garrison.agents.shares import parse_shares
from garrison.errors import UserError


class DefenderTeam:
    """Several agents as one: each plays a fixed share of the environments, in their order.

    Args:
        agents: who plays; all read the same observations.
        shares: of the environments, one for each.
    """

    rules = None

    def __init__(self, agents: Sequence[Agent], shares: Sequence[float]) -> None:
        encoders = {agent.encoder for agent in agents}
        if len(encoders) > 1:
            raise UserError(f"defenders that play together must read the same observations, not {sorted(encoders)}.")
        self.name = ",".join(agent.name for agent in agents)
        self.encoder = encoders.pop()
        self._agents, self._bounds = list(agents), np.cumsum([0.0, *shares]) / np.sum(shares)

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Give each agent its environments; a small share of few environments may be none."""
        edges = np.round(self._bounds * num_envs).astype(int).tolist()
        self._actions = np.zeros(num_envs, np.int64)
        parts = [slice(first, last) for first, last in pairwise(edges)]
        self._parts = [(agent, part) for agent, part in zip(self._agents, parts, strict=True) if part.stop > part.start]
        for number, (agent, part) in enumerate(self._parts):
            agent.begin(part.stop - part.start, seed + number)

    def reset(self, mask: Flags) -> None:
        """Pass on, to each its own part."""
        for agent, part in self._parts:
            agent.reset(mask[part])

    def act(self, observations: Bits) -> Choices:
        """Ask each agent about its environments."""
        for agent, part in self._parts:
            self._actions[part] = agent.act(observations[part])
        return self._actions


def find_defenders(blue: Any) -> Agent:
    """Return who defends: an agent as it is, or those that a text names, as in `react-restore,runs/blue-1`."""
    if not isinstance(blue, str):
        return _checked(blue)
    shares = parse_shares("blue", blue)
    agents = [_checked(load_agent(name)) for name in shares]
    return agents[0] if len(agents) == 1 else DefenderTeam(agents, list(shares.values()))


def _checked(agent: Any) -> Agent:
    if not all(hasattr(agent, name) for name in ("encoder", "begin", "reset", "act")):
        raise UserError(f"{getattr(agent, 'name', agent)} is no defender of CAGE-2, so it cannot play Blue.")
    found: Agent = agent
    return found
