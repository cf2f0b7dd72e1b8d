"""Several attackers that are not scripted, of which each episode has one."""

from collections.abc import Sequence

import numpy as np

from garrison.cage2.names import NUM_HOSTS
from garrison.cage2.red_agent import Flags, Ints, RedAgent, RedView, answer_of
from garrison.errors import UserError


class RedMixture(RedAgent):
    """Draws at the start of an episode who plays it, from the environment's own stream, and lets that one play.

    Who it is, is kept in the environment's state (`last_owned`, a field of Meander's), so that saved states and clones
    go on with the same attacker.
    """

    def __init__(self, agents: Sequence[RedAgent], shares: Sequence[float]) -> None:
        if len(agents) > NUM_HOSTS:
            raise UserError(f"a mixture has at most {NUM_HOSTS} attackers that are not scripted; got {len(agents)}.")
        self._agents = list(agents)
        self._bounds = np.cumsum(shares) / np.sum(shares)

    def reset(self, mask: Flags) -> None:
        """Tell everybody: who plays is only known when they act."""
        for agent in self._agents:
            agent.reset(mask)

    def act(self, view: RedView) -> tuple[Ints, Ints]:
        """Ask each attacker about its environments."""
        mine = view.is_external
        self._draw(view, mine)
        kinds, targets = (np.zeros(view.num_envs, np.int64) for _ in range(2))
        for number, agent in enumerate(self._agents):
            rows = np.flatnonzero(mine & (view.member == number))
            if not len(rows):
                continue
            if agent.keeps_nothing:
                with view.some(rows) as part:
                    kinds[rows], targets[rows] = answer_of(agent, part)
            else:
                kinds[rows], targets[rows] = (part[rows] for part in answer_of(agent, view))
        return kinds, targets

    def _draw(self, view: RedView, mine: Flags) -> None:
        """Draw who plays in the environments where nobody does yet."""
        rows = np.flatnonzero(mine & (view.member < 0))
        if len(rows):
            with view.some(rows) as part:
                drawn = np.searchsorted(self._bounds, part.uniform(), side="right")
            view.name_member(rows, np.minimum(drawn, len(self._agents) - 1))


def mixed(agents: Sequence[RedAgent], shares: Sequence[float]) -> RedAgent | None:
    """Return one attacker for several; None for none."""
    if len(agents) < 2:
        return agents[0] if agents else None
    return RedMixture(agents, shares)
