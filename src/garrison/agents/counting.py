"""An agent that counts what another one does."""

import numpy as np

from garrison.agents.protocol import Agent, Bits, Choices, Flags
from garrison.cage2.names import ACTIONS


class CountingAgent:
    """Plays as `agent` does and counts its actions."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.counts = np.zeros(len(ACTIONS), np.int64)

    @property
    def name(self) -> str:
        """The other agent's name."""
        return self._agent.name

    @property
    def encoder(self) -> str:
        """The other agent's encoder."""
        return self._agent.encoder

    @property
    def rules(self) -> str | None:
        """The rules that the other agent was trained under."""
        return self._agent.rules

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Pass on; what was counted stays."""
        self._agent.begin(num_envs, seed)

    def reset(self, mask: Flags) -> None:
        """Pass on."""
        self._agent.reset(mask)

    def act(self, observations: Bits) -> Choices:
        """Pass on, and count."""
        actions = self._agent.act(observations)
        self.counts += np.bincount(actions, minlength=len(self.counts))
        return actions

    def shares(self) -> dict[str, float]:
        """Return the share of each action that was ever taken, the most frequent first."""
        total = max(1, int(self.counts.sum()))
        order = np.argsort(-self.counts, kind="stable")
        return {ACTIONS[a].name: round(float(self.counts[a] / total), 6) for a in order if self.counts[a]}
