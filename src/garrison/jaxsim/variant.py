"""What is decided before anything is compiled: each variant of the game is one program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.inputs import parse_red
from garrison.cage2.names import ACTION_SETS, OBSERVATIONS, REDS, Observation, Red
from garrison.cage2.observation_sets import WIDTHS
from garrison.cage2.red_agent import own_agent
from garrison.errors import UserError, choose


@dataclass(frozen=True)
class Variant:
    """Who may attack, what Blue is shown, and what it chooses from. Everything else is a number in `Params`."""

    reds: tuple[int, ...]
    """Codes of `Red`: the attackers that are compiled in"""
    is_drawn: bool
    """Each reset draws one of them; otherwise `Params.red` says who attacks"""
    observation: int
    """A code of `Observation`"""
    actions: str
    """A name of `ACTION_SETS`"""

    @property
    def width(self) -> int:
        """How many values an observation has."""
        return WIDTHS[self.observation]

    @property
    def num_actions(self) -> int:
        """How many actions Blue has."""
        return len(ACTION_IDS[self.actions])

    @property
    def remembers(self) -> bool:
        """Whether the observation needs what a defender can remember."""
        return self.observation != Observation.BITS

    @property
    def takes_red_actions(self) -> bool:
        """Whether an action has Red's part: `{"blue": action, "red": (kind, target)}`."""
        return Red.EXTERNAL in self.reds


def named_attackers(red: str | Sequence[str] | Mapping[str, float]) -> tuple[list[int], NDArray[np.float64]]:
    """Return the codes of the attackers that `red` names, in its order, and their cumulative odds by code."""
    if own_agent(red) is not None:
        raise UserError(
            "an attacker written in Python cannot be compiled: use red='external' and give its actions beside Blue's."
        )
    names = [red] if isinstance(red, str) else list(red)
    codes, odds = parse_red(red, len(names))
    return [REDS.index(name) for name in names] if isinstance(red, Mapping) else np.ravel(codes).tolist(), odds


def variant_of(red: str | Sequence[str] | Mapping[str, float], observation: str, actions: str) -> Variant:
    """Return the variant that these arguments, those of `garrison.cage2.VectorEnv`, ask for."""
    codes, _ = named_attackers(red)
    if observation == "history":
        raise UserError("observation='history' is not written in JAX: use memory, or the native batch.")
    return Variant(
        tuple(sorted(set(codes))),
        isinstance(red, Mapping),
        OBSERVATIONS.index(choose("observation", observation, OBSERVATIONS)),
        choose("actions", actions, ACTION_SETS),
    )
