"""Where the original has `EternalBlue`."""

from garrison.cyborg.red_actions import EternalBlue as EternalBlue
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
