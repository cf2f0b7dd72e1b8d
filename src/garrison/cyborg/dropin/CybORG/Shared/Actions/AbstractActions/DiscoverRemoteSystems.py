"""Where the original has `DiscoverRemoteSystems`."""

from garrison.cyborg.red_actions import DiscoverRemoteSystems as DiscoverRemoteSystems
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
