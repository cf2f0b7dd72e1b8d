"""Where the original has `Misinform`."""

from garrison.cyborg.blue_actions import Misinform as Misinform
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
