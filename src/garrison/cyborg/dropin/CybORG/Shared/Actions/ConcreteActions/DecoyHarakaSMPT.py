"""Where the original has `DecoyHarakaSMPT`."""

from garrison.cyborg.blue_actions import DecoyHarakaSMPT as DecoyHarakaSMPT
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
