"""Where the original has `Restore`."""

from garrison.cyborg.blue_actions import Restore as Restore
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
