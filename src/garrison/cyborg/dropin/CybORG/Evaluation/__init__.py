"""The folder where scripts write their results."""

from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
