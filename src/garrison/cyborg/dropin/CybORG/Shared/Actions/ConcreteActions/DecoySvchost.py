"""Where the original has `DecoySvchost`."""

from garrison.cyborg.blue_actions import DecoySvchost as DecoySvchost
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
