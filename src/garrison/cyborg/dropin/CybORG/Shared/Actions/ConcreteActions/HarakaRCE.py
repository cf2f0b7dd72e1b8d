"""Where the original has `HarakaRCE`."""

from garrison.cyborg.red_actions import HarakaRCE as HarakaRCE
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
