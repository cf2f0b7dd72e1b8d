"""Where the original has `HTTPRFI`."""

from garrison.cyborg.red_actions import HTTPRFI as HTTPRFI
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
