"""Where the original has `Results`."""

from garrison.cyborg.refusal import refuses
from garrison.cyborg.step_results import Results as Results

__getattr__ = refuses(__name__)
