"""The one action of other scenarios that wrappers import."""

from CybORG.Shared.Actions.ShellActionsFolder.ShellSleep import ShellSleep as ShellSleep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
