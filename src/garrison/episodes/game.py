"""The game that episodes are played in: everything but who defends and which seed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import DEFAULT_ENCODER, DEFAULT_LENGTH, DEFAULT_RULES
from garrison.cage2.scenario import load_scenario
from garrison.cage2.vector_env import VectorEnv
from garrison.cage2.workflow import Workflow
from garrison.challenge.evaluation import name_of

if TYPE_CHECKING:
    from garrison.challenge.evaluation import OneRed

DEFAULT_WATCHED_RED = "meander"
"""Who attacks if nobody is named: of the scripted attackers, the one that tries everything."""


@dataclass(frozen=True)
class Game:
    """Who attacks, for how long, by which rules, and the workflow that is to be followed, if there is one."""

    red: "OneRed" = DEFAULT_WATCHED_RED
    """A scripted attacker's name; one of your own is a `garrison.cage2.RedAgent` or `"module:Class"`"""
    length: int = DEFAULT_LENGTH
    """Steps of an episode"""
    rules: str = DEFAULT_RULES
    """`head` or `leaderboard`"""
    encoder: str = DEFAULT_ENCODER
    """Which 52 observations Blue sees"""
    workflow: Workflow | None = None
    """In which order hosts are to be fixed; fixes are judged, and rewards stay the challenge's"""

    @property
    def red_name(self) -> str:
        """What results call the attacker."""
        return name_of(self.red)

    @property
    def scenario(self) -> NDArray[np.void]:
        """The scenario's facts, one `SCENARIO` record."""
        return load_scenario(None, self.rules, self.encoder)

    def envs(self, num_envs: int, red: Any = None) -> VectorEnv:
        """Make environments of this game, or of the same game with another attacker."""
        return VectorEnv(
            num_envs,
            red=self.red if red is None else red,
            rules=self.rules,
            length=self.length,
            encoder=self.encoder,
            autoreset_mode="Disabled",
            workflow=self.workflow,
            copy=False,
        )


def judged_by(order: int, definition: str = "state", foothold: str = "ignore") -> Workflow:
    """Return a workflow that judges every fix and is worth nothing, so that rewards stay the challenge's."""
    return Workflow(order, definition, foothold, weight=0.0, show_order=False)
