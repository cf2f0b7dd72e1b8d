"""Where the original has `DecoyApache`."""

from garrison.cyborg.blue_actions import DecoyApache as DecoyApache
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
