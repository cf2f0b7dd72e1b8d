"""One module for each agent, under the original's names."""

from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
