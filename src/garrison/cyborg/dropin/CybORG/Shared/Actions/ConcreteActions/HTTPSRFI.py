"""Where the original has `HTTPSRFI`."""

from garrison.cyborg.red_actions import HTTPSRFI as HTTPSRFI
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
