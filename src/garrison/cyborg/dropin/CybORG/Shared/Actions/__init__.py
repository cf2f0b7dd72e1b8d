"""The actions of Scenario2."""

from CybORG.Shared.Actions.AbstractActions import Analyse as Analyse
from CybORG.Shared.Actions.AbstractActions import DiscoverNetworkServices as DiscoverNetworkServices
from CybORG.Shared.Actions.AbstractActions import DiscoverRemoteSystems as DiscoverRemoteSystems
from CybORG.Shared.Actions.AbstractActions import ExploitRemoteService as ExploitRemoteService
from CybORG.Shared.Actions.AbstractActions import Impact as Impact
from CybORG.Shared.Actions.AbstractActions import Misinform as Misinform
from CybORG.Shared.Actions.AbstractActions import Monitor as Monitor
from CybORG.Shared.Actions.AbstractActions import PrivilegeEscalate as PrivilegeEscalate
from CybORG.Shared.Actions.AbstractActions import Remove as Remove
from CybORG.Shared.Actions.AbstractActions import Restore as Restore
from CybORG.Shared.Actions.Action import Action as Action
from CybORG.Shared.Actions.Action import InvalidAction as InvalidAction
from CybORG.Shared.Actions.Action import Sleep as Sleep
from CybORG.Shared.Actions.ConcreteActions import BlueKeep as BlueKeep
from CybORG.Shared.Actions.ConcreteActions import DecoyApache as DecoyApache
from CybORG.Shared.Actions.ConcreteActions import DecoyFemitter as DecoyFemitter
from CybORG.Shared.Actions.ConcreteActions import DecoyHarakaSMPT as DecoyHarakaSMPT
from CybORG.Shared.Actions.ConcreteActions import DecoySSHD as DecoySSHD
from CybORG.Shared.Actions.ConcreteActions import DecoySmss as DecoySmss
from CybORG.Shared.Actions.ConcreteActions import DecoySvchost as DecoySvchost
from CybORG.Shared.Actions.ConcreteActions import DecoyTomcat as DecoyTomcat
from CybORG.Shared.Actions.ConcreteActions import DecoyVsftpd as DecoyVsftpd
from CybORG.Shared.Actions.ConcreteActions import EternalBlue as EternalBlue
from CybORG.Shared.Actions.ConcreteActions import FTPDirectoryTraversal as FTPDirectoryTraversal
from CybORG.Shared.Actions.ConcreteActions import HTTPRFI as HTTPRFI
from CybORG.Shared.Actions.ConcreteActions import HTTPSRFI as HTTPSRFI
from CybORG.Shared.Actions.ConcreteActions import HarakaRCE as HarakaRCE
from CybORG.Shared.Actions.ConcreteActions import SQLInjection as SQLInjection
from CybORG.Shared.Actions.ConcreteActions import SSHBruteForce as SSHBruteForce
from CybORG.Shared.Actions.GreenActions import GreenConnection as GreenConnection
from CybORG.Shared.Actions.GreenActions import GreenPingSweep as GreenPingSweep
from CybORG.Shared.Actions.GreenActions import GreenPortScan as GreenPortScan
from CybORG.Shared.Actions.ShellActionsFolder import ShellSleep as ShellSleep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
