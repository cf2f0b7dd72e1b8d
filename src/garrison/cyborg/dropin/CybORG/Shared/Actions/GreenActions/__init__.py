"""Green's actions."""

from CybORG.Shared.Actions.GreenActions.GreenConnection import GreenConnection as GreenConnection
from CybORG.Shared.Actions.GreenActions.GreenPingSweep import GreenPingSweep as GreenPingSweep
from CybORG.Shared.Actions.GreenActions.GreenPortScan import GreenPortScan as GreenPortScan
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
