"""Where the original has `Analyse`."""

from garrison.cyborg.blue_actions import Analyse as Analyse
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
