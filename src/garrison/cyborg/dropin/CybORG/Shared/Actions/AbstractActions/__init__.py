"""Actions that agents choose: what to do, not how."""

from CybORG.Shared.Actions.AbstractActions.DiscoverRemoteSystems import DiscoverRemoteSystems as DiscoverRemoteSystems
from CybORG.Shared.Actions.AbstractActions.DiscoverNetworkServices import (
    DiscoverNetworkServices as DiscoverNetworkServices,
)
from CybORG.Shared.Actions.AbstractActions.ExploitRemoteService import ExploitRemoteService as ExploitRemoteService
from CybORG.Shared.Actions.AbstractActions.Monitor import Monitor as Monitor
from CybORG.Shared.Actions.AbstractActions.Analyse import Analyse as Analyse
from CybORG.Shared.Actions.AbstractActions.Remove import Remove as Remove
from CybORG.Shared.Actions.AbstractActions.Restore import Restore as Restore
from CybORG.Shared.Actions.AbstractActions.Misinform import Misinform as Misinform
from CybORG.Shared.Actions.AbstractActions.PrivilegeEscalate import PrivilegeEscalate as PrivilegeEscalate
from CybORG.Shared.Actions.AbstractActions.Impact import Impact as Impact
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
