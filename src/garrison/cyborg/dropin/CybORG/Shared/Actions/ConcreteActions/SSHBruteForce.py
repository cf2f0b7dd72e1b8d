"""Where the original has `SSHBruteForce`."""

from garrison.cyborg.red_actions import SSHBruteForce as SSHBruteForce
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
