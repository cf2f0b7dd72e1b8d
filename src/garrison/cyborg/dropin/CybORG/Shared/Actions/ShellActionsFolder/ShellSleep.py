"""Where the original has `ShellSleep`."""

from garrison.cyborg.action_base import ShellSleep as ShellSleep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
