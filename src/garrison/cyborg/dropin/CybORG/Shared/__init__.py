"""What agents, wrappers and the simulator share."""

from CybORG.Shared.Observation import Observation as Observation
from CybORG.Shared.Results import Results as Results
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
