"""Where the original has `GreenConnection`."""

from garrison.cyborg.green_actions import GreenConnection as GreenConnection
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
