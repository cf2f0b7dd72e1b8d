"""Where the original has `DecoyFemitter`."""

from garrison.cyborg.blue_actions import DecoyFemitter as DecoyFemitter
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
