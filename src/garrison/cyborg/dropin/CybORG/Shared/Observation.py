"""Where the original has `Observation`."""

from garrison.cyborg.observation_data import Observation as Observation
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
