"""Where the original has `Action` and the two simplest actions."""

from garrison.cyborg.action_base import Action as Action
from garrison.cyborg.action_base import InvalidAction as InvalidAction
from garrison.cyborg.action_base import Sleep as Sleep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
