"""Where the original has `Remove`."""

from garrison.cyborg.blue_actions import Remove as Remove
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
