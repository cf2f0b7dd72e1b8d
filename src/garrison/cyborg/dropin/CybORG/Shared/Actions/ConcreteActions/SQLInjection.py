"""Where the original has `SQLInjection`."""

from garrison.cyborg.red_actions import SQLInjection as SQLInjection
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
