"""Where the original has `DecoyTomcat`."""

from garrison.cyborg.blue_actions import DecoyTomcat as DecoyTomcat
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
