"""Where the original has `DecoySSHD`."""

from garrison.cyborg.blue_actions import DecoySSHD as DecoySSHD
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
