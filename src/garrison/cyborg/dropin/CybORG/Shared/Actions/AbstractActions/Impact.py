"""Where the original has `Impact`."""

from garrison.cyborg.red_actions import Impact as Impact
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
