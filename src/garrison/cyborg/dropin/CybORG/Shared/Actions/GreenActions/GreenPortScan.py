"""Where the original has `GreenPortScan`."""

from garrison.cyborg.green_actions import GreenPortScan as GreenPortScan
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
