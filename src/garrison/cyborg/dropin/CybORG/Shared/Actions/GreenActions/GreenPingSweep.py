"""Where the original has `GreenPingSweep`."""

from garrison.cyborg.green_actions import GreenPingSweep as GreenPingSweep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
