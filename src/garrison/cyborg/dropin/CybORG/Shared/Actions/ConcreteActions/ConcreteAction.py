"""Where the original has `ConcreteAction`."""

from garrison.cyborg.action_base import ConcreteAction as ConcreteAction
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
