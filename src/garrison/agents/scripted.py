"""The challenge's own baselines, and some that look at what they are shown.

The published row "Blue React Restore" was made by handing CybORG's BlueReactRestoreAgent the same observation at every
step: the one of the reset, which shows processes on every host. After each Monitor the agent therefore suspects all
hosts but User0 and restores them one by one, in the order of the scenario, whatever Red does. Its Sleep cells show it:
-27, -46 and -92 are 12 Restores in every 13 steps. `react-restore` and `react-remove` do just this.

`alert-restore` and `alert-remove` follow the rule as it was meant: Monitor, and when that shows an exploit on a host
other than User0, fix that host. `belief-restore` restores whatever is believed compromised, and `shield` shows how much
one early Restore of Op_Server0 is worth.
"""

from collections.abc import Callable

import numpy as np

from garrison.agents.border import observed_bits
from garrison.agents.protocol import Agent, Bits, Choices, Flags
from garrison.cage2.names import FIRST_BLOCK, NUM_ACTIONS, NUM_HOSTS, REMOVE_BLOCK, RESTORE_BLOCK, Host
from garrison.cage2.observe import BITS_PER_HOST
from garrison.cage2.policies import CODES, NO_REACTION, Cycle, Reactions

SLEEP, MONITOR = 0, 1
FIRST_OF_BLOCK = {
    "remove": FIRST_BLOCK + REMOVE_BLOCK * NUM_HOSTS,
    "restore": FIRST_BLOCK + RESTORE_BLOCK * NUM_HOSTS,
}


class SleepAgent:
    """Does nothing."""

    name = "sleep"
    encoder = "challenge"
    rules = None
    rollout_policy = Cycle([SLEEP])

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """There is nothing to remember."""

    def reset(self, mask: Flags) -> None:
        """There is nothing to forget."""

    def act(self, observations: Bits) -> Choices:
        """Sleep everywhere."""
        return np.full(len(observed_bits(observations)), SLEEP, np.int64)


class RandomAgent:
    """Draws every action with the same odds."""

    name = "random"
    encoder = "challenge"
    rules = None

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Seed the draws."""
        self._random = np.random.default_rng(seed)

    def reset(self, mask: Flags) -> None:
        """There is nothing to forget."""

    def act(self, observations: Bits) -> Choices:
        """Draw an action for each environment."""
        return self._random.integers(NUM_ACTIONS, size=len(observed_bits(observations)))


class ReactAgent:
    """Monitors, then fixes every host but User0 in turn, and again: the challenge's react agents as published."""

    encoder = "challenge"
    rules = None

    def __init__(self, fix: str) -> None:
        self.name = f"react-{fix}"
        hosts = np.array([h for h in range(NUM_HOSTS) if h != Host.USER0])
        self._round = np.concatenate(([MONITOR], FIRST_OF_BLOCK[fix] + hosts))
        self.rollout_policy = Cycle(self._round)

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start every round at its Monitor."""
        self._steps = np.zeros(num_envs, np.int64)

    def reset(self, mask: Flags) -> None:
        """Start the round again."""
        self._steps[mask] = 0

    def act(self, observations: Bits) -> Choices:
        """Take the next action of each round."""
        observed_bits(observations, len(self._steps))
        actions: Choices = self._round[self._steps % len(self._round)]
        self._steps += 1
        return actions


class AlertAgent:
    """Monitors; fixes a host when a Monitor shows an exploit there."""

    encoder = "challenge"
    rules = None

    def __init__(self, fix: str) -> None:
        self.name = f"alert-{fix}"
        self._first = FIRST_OF_BLOCK[fix]

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Nothing was monitored yet."""
        self._monitored = np.zeros(num_envs, np.bool_)

    def reset(self, mask: Flags) -> None:
        """Nothing was monitored yet."""
        self._monitored[mask] = False

    def act(self, observations: Bits) -> Choices:
        """Fix where the last action was Monitor and the second activity bit is set; Monitor elsewhere."""
        bits = observed_bits(observations, len(self._monitored))
        exploited = bits.reshape(-1, NUM_HOSTS, BITS_PER_HOST)[:, :, 1] != 0
        exploited[:, Host.USER0] = False
        fixes = self._monitored & exploited.any(axis=1)
        self._monitored = ~fixes
        return np.where(fixes, self._first + exploited.argmax(axis=1), MONITOR)

    def took(self, actions: Choices) -> None:
        """Remember where Blue did Monitor."""
        self._monitored = np.asarray(actions) == MONITOR


class BeliefAgent:
    """Restores the first host that is believed compromised, if any."""

    name = "belief-restore"
    encoder = "challenge"
    rules = None

    @property
    def rollout_policy(self) -> Reactions:
        """The third and fourth of the four bits of a host say what is believed of it."""
        restores = FIRST_OF_BLOCK["restore"] + np.arange(NUM_HOSTS)
        believed = np.arange(CODES) >> 2 != 0
        return Reactions(np.where(believed, restores[:, None], NO_REACTION), otherwise=SLEEP)

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """There is nothing to remember."""

    def reset(self, mask: Flags) -> None:
        """There is nothing to forget."""

    def act(self, observations: Bits) -> Choices:
        """Restore where one of the two belief bits is set; sleep elsewhere."""
        believed = (observed_bits(observations).reshape(-1, NUM_HOSTS, BITS_PER_HOST)[:, :, 2:] != 0).any(axis=2)
        return np.where(believed.any(axis=1), FIRST_OF_BLOCK["restore"] + believed.argmax(axis=1), SLEEP)


class ShieldAgent:
    """Restores Op_Server0 in the first step, which protects its service for good (quirk Q1), then sleeps."""

    name = "shield"
    encoder = "challenge"
    rules = None

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Every episode is at its first step."""
        self._starts = np.ones(num_envs, np.bool_)

    def reset(self, mask: Flags) -> None:
        """These episodes are at their first step."""
        self._starts |= mask

    def act(self, observations: Bits) -> Choices:
        """Restore Op_Server0 where an episode starts."""
        observed_bits(observations, len(self._starts))
        actions = np.where(self._starts, FIRST_OF_BLOCK["restore"] + Host.OP_SERVER0, SLEEP)
        self._starts[:] = False
        return actions


SCRIPTED: dict[str, Callable[[], Agent]] = {
    "sleep": SleepAgent,
    "random": RandomAgent,
    "react-remove": lambda: ReactAgent("remove"),
    "react-restore": lambda: ReactAgent("restore"),
    "alert-remove": lambda: AlertAgent("remove"),
    "alert-restore": lambda: AlertAgent("restore"),
    "belief-restore": BeliefAgent,
    "shield": ShieldAgent,
}
"""Scripted defenders by name; `load_agent` takes the same names."""
