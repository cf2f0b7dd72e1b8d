"""Where the original has `PrivilegeEscalate`."""

from garrison.cyborg.red_actions import PrivilegeEscalate as PrivilegeEscalate
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
