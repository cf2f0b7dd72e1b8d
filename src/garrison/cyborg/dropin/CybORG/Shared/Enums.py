"""Where the original has the words of its observations."""

from garrison.cyborg.cyborg_enums import AppProtocol as AppProtocol
from garrison.cyborg.cyborg_enums import Architecture as Architecture
from garrison.cyborg.cyborg_enums import BuiltInGroups as BuiltInGroups
from garrison.cyborg.cyborg_enums import DecoyType as DecoyType
from garrison.cyborg.cyborg_enums import FileExt as FileExt
from garrison.cyborg.cyborg_enums import FileType as FileType
from garrison.cyborg.cyborg_enums import FileVersion as FileVersion
from garrison.cyborg.cyborg_enums import InterfaceType as InterfaceType
from garrison.cyborg.cyborg_enums import OperatingSystemDistribution as OperatingSystemDistribution
from garrison.cyborg.cyborg_enums import OperatingSystemKernelVersion as OperatingSystemKernelVersion
from garrison.cyborg.cyborg_enums import OperatingSystemPatch as OperatingSystemPatch
from garrison.cyborg.cyborg_enums import OperatingSystemType as OperatingSystemType
from garrison.cyborg.cyborg_enums import OperatingSystemVersion as OperatingSystemVersion
from garrison.cyborg.cyborg_enums import PasswordHashType as PasswordHashType
from garrison.cyborg.cyborg_enums import Path as Path
from garrison.cyborg.cyborg_enums import ProcessName as ProcessName
from garrison.cyborg.cyborg_enums import ProcessState as ProcessState
from garrison.cyborg.cyborg_enums import ProcessType as ProcessType
from garrison.cyborg.cyborg_enums import ProcessVersion as ProcessVersion
from garrison.cyborg.cyborg_enums import QueryType as QueryType
from garrison.cyborg.cyborg_enums import SessionType as SessionType
from garrison.cyborg.cyborg_enums import TransportProtocol as TransportProtocol
from garrison.cyborg.cyborg_enums import TrinaryEnum as TrinaryEnum
from garrison.cyborg.cyborg_enums import Vendor as Vendor
from garrison.cyborg.cyborg_enums import Vulnerability as Vulnerability
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)
