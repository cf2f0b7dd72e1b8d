"""Who attacks in a batch: scripted attackers, actions that come beside Blue's, or a class of the user's own."""

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from gymnasium.spaces import Dict, Discrete, MultiDiscrete, Space
from numpy.typing import NDArray

from garrison.cage2.inputs import RED_KINDS, parse_red, red_actions, split_actions
from garrison.cage2.names import NUM_HOSTS, REDS, Red
from garrison.cage2.red_agent import RedAgent, own_agent, play_red
from garrison.cage2.red_mixture import mixed

EXTERNAL = REDS[Red.EXTERNAL]


class Attackers:
    """The attackers of a batch, from what `VectorEnv` takes as `red`."""

    def __init__(self, red: Any, num_envs: int) -> None:
        self.own, named = split_red(red)
        """Who chooses where the attacker is not scripted: a user's class, a trained one; None if there is none"""
        self.codes, self.odds = parse_red(named, num_envs, has_own=self.own is not None)
        self.are_drawn = isinstance(named, Mapping)
        """Whether each reset draws one, by the odds"""
        self.are_external = self.own is not None or bool(np.any(np.asarray(self.codes) == Red.EXTERNAL))
        """Whether the simulator waits for Red's actions in some environment"""
        self.actions = np.zeros((num_envs, 2), np.int8)
        """What an attacker from outside does in this step: kind and target"""

    @property
    def act_beside_blue(self) -> bool:
        """Whether whoever steps the batch gives Red's actions too."""
        return self.are_external and self.own is None

    def change(self, mixture: Mapping[str, float]) -> NDArray[np.float64]:
        """Draw by a mixture from the next reset on; return its cumulative odds."""
        _, self.odds = parse_red(mixture, len(self.actions))
        self.are_drawn = True
        return self.odds

    def action_space(self, num_actions: int) -> Space[Any]:
        """Return one environment's action space, Red's part included where it comes beside Blue's."""
        if not self.act_beside_blue:
            return Discrete(num_actions)
        return Dict(blue=Discrete(num_actions), red=MultiDiscrete([RED_KINDS, NUM_HOSTS]))

    def read(self, actions: Any) -> tuple[Any, Any]:
        """Return Blue's part of the actions as it was given, and Red's part checked; None if there is none."""
        if not self.act_beside_blue:
            return actions, None
        blue, red = split_actions(actions)
        return blue, red_actions(red, len(self.actions))

    def play(self, envs: NDArray[np.void]) -> None:
        """Let the attacker that is not scripted, of which there must be one, choose what Red does in this step."""
        assert self.own is not None
        play_red(self.own, envs, self.actions)

    def copied(self, rows: NDArray[np.intp]) -> Self:
        """Return the same for copies of some environments, sharing nothing."""
        twin = copy.copy(self)
        twin.own, twin.actions = copy.deepcopy(self.own), self.actions[rows]
        return twin


def split_red(red: Any) -> tuple[RedAgent | None, Any]:
    """Return who chooses where the attacker is not scripted, and `red` with these as one external attacker."""
    if not isinstance(red, Mapping):
        own = own_agent(red)
        return own, red if own is None else EXTERNAL
    agents = {key: agent for key in red if (agent := own_agent(key)) is not None}
    own = mixed(list(agents.values()), [red[key] for key in agents])
    if own is None or EXTERNAL in red:
        return None, red
    scripted = {name: share for name, share in red.items() if name not in agents}
    return own, {**scripted, EXTERNAL: sum(red[key] for key in agents)}
