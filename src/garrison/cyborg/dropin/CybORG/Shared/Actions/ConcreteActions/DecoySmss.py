"""Where the original has `DecoySmss`."""

from garrison.cyborg.blue_actions import DecoySmss as DecoySmss
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
