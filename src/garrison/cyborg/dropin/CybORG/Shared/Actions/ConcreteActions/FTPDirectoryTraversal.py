"""Where the original has `FTPDirectoryTraversal`."""

from garrison.cyborg.red_actions import FTPDirectoryTraversal as FTPDirectoryTraversal
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
