"""CAGE-2 from Red's side: an attacker learns against a frozen defender, or against several."""

from dataclasses import dataclass
from typing import Any, ClassVar

from garrison.agents.red_side import DEFAULT_BLUE, RedVectorEnv
from garrison.agents.shares import parse_shares
from garrison.cage2.names import RED_ACTIONS
from garrison.cage2.red_moves import RED_MOVES
from garrison.errors import UserError
from garrison.learn.config import LearnerConfig
from garrison.learn.registry import LEARNERS, algorithm_of
from garrison.registration import CAGE2_RED
from garrison.tasks.cage2 import NATIVE, Cage2Settings
from garrison.tasks.task import Task

NOT_REDS = ("red", "challenge_encoder", "observation", "actions", "reward")
"""Settings of CAGE-2 that are Blue's"""


@dataclass(frozen=True)
class Cage2RedSettings(Cage2Settings):
    """What else can be set about CAGE-2 where Red learns."""

    blue: str = DEFAULT_BLUE
    """garrison/CAGE2Red-v0: who defends while Red learns: anything that garrison evaluate takes. Several share the
    environments: react-restore,record, or with shares react-restore:0.3,record:0.7."""

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_shares("blue", self.blue)
        if self.env != CAGE2_RED and self.blue != DEFAULT_BLUE:
            raise UserError(f"blue says who defends while Red learns: choose --env {CAGE2_RED} with it.")
        for name in NOT_REDS if self.env == CAGE2_RED else ():
            if getattr(self, name) != getattr(Cage2Settings, name):
                raise UserError(f"{name} is Blue's, and in {CAGE2_RED} Red learns: leave it out.")


@dataclass(frozen=True)
class Cage2RedTask(Task):
    """The zero-sum game from the other side, scored by Red's mean return."""

    config: Cage2RedSettings
    final_episodes: ClassVar[int] = 1000

    def make_envs(self, num_envs: int) -> Any:
        """Make the compiled batch, with the defender inside."""
        config = self.config
        return RedVectorEnv(num_envs, config.blue, config.rules, config.length, self.autoreset_mode)

    def check(self, learner: LearnerConfig) -> None:
        """Refuse what an attacker cannot have."""
        if LEARNERS[algorithm_of(learner)].on_device:
            raise UserError("the defender does not play on the device: train Red by ppo.")
        if self.config.backend not in NATIVE:
            raise UserError(f"{CAGE2_RED} is one batch, not stepped by {self.config.backend!r}: leave out --backend.")
        if learner.policy.recurrent_size:
            raise UserError("an attacker remembers only what its observation shows: leave out --recurrent-size.")

    def describe(self) -> str:
        """Return the defender and the rules."""
        return f"Red against {self.config.blue}, rules {self.config.rules}"

    def facts(self) -> dict[str, Any]:
        """Return what decides the difficulty."""
        config = self.config
        return {"backend": config.backend, "blue": config.blue, "rules": config.rules, "length": config.length}

    def action_kinds(self) -> tuple[str, ...]:
        """Return the kind of each move."""
        return tuple(RED_ACTIONS[move.kind] for move in RED_MOVES)
