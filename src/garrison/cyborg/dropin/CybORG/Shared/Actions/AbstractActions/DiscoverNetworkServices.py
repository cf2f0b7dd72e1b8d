"""Where the original has `DiscoverNetworkServices`."""

from garrison.cyborg.red_actions import DiscoverNetworkServices as DiscoverNetworkServices
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
