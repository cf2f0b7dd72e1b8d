"""Where the original has `Monitor`."""

from garrison.cyborg.blue_actions import Monitor as Monitor
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
