"""Exploits and decoys."""

from CybORG.Shared.Actions.ConcreteActions.BlueKeep import BlueKeep as BlueKeep
from CybORG.Shared.Actions.ConcreteActions.EternalBlue import EternalBlue as EternalBlue
from CybORG.Shared.Actions.ConcreteActions.HTTPRFI import HTTPRFI as HTTPRFI
from CybORG.Shared.Actions.ConcreteActions.HTTPSRFI import HTTPSRFI as HTTPSRFI
from CybORG.Shared.Actions.ConcreteActions.SSHBruteForce import SSHBruteForce as SSHBruteForce
from CybORG.Shared.Actions.ConcreteActions.HarakaRCE import HarakaRCE as HarakaRCE
from CybORG.Shared.Actions.ConcreteActions.SQLInjection import SQLInjection as SQLInjection
from CybORG.Shared.Actions.ConcreteActions.FTPDirectoryTraversal import FTPDirectoryTraversal as FTPDirectoryTraversal
from CybORG.Shared.Actions.ConcreteActions.DecoyApache import DecoyApache as DecoyApache
from CybORG.Shared.Actions.ConcreteActions.DecoyFemitter import DecoyFemitter as DecoyFemitter
from CybORG.Shared.Actions.ConcreteActions.DecoyHarakaSMPT import DecoyHarakaSMPT as DecoyHarakaSMPT
from CybORG.Shared.Actions.ConcreteActions.DecoySmss import DecoySmss as DecoySmss
from CybORG.Shared.Actions.ConcreteActions.DecoySSHD import DecoySSHD as DecoySSHD
from CybORG.Shared.Actions.ConcreteActions.DecoySvchost import DecoySvchost as DecoySvchost
from CybORG.Shared.Actions.ConcreteActions.DecoyTomcat import DecoyTomcat as DecoyTomcat
from CybORG.Shared.Actions.ConcreteActions.DecoyVsftpd import DecoyVsftpd as DecoyVsftpd
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
