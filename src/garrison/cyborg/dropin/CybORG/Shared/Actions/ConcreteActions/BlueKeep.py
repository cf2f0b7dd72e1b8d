"""Where the original has `BlueKeep`."""

from garrison.cyborg.red_actions import BlueKeep as BlueKeep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
