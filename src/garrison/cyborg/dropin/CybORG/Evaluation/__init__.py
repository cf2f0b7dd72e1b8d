"""The folder where scripts write their results."""

from garrison.cyborg.fall_through import extended
from garrison.cyborg.refusal import refuses

__path__ = extended(__path__, __name__)
__getattr__ = refuses(__name__)
