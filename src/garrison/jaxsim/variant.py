"""What is decided before anything is compiled: each variant of the game is one program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.inputs import parse_red
from garrison.cage2.names import ACTION_SETS, OBSERVATIONS, Observation, Red
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


def variant_of(red: str | Sequence[str] | Mapping[str, float], observation: str, actions: str) -> Variant:
    """Return the variant that these arguments, those of `garrison.cage2.VectorEnv`, ask for.

    A list of attackers compiles all of them in; `Params.red` then has one for each environment.
    """
    if own_agent(red) is not None:
        raise UserError(
            "an attacker written in Python cannot be compiled: use red='external' and give its actions beside Blue's."
        )
    codes, _ = parse_red(red, len(red) if isinstance(red, Sequence) and not isinstance(red, str) else 1)
    named: Any = red if isinstance(red, Mapping) else None
    reds = [c for c in range(len(Red)) if named.get(Red._fields[c].lower(), 0) > 0] if named else np.ravel(codes)
    return Variant(
        tuple(sorted({int(code) for code in reds})),
        isinstance(red, Mapping),
        OBSERVATIONS.index(choose("observation", observation, OBSERVATIONS)),
        choose("actions", actions, ACTION_SETS),
    )
