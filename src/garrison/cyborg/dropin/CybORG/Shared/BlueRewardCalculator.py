"""Where the original has `HostReward`."""

from garrison.cyborg.refusal import refuses
from garrison.cyborg.rewards import HostReward as HostReward

__getattr__ = refuses(__name__)
