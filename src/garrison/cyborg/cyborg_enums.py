"""The words of CybORG's observations as enums: members, their order and their values are the original's.

Agents and wrappers compare members, print them and read `value`, so a member that no observation shows still takes its
place in the order.
"""

import enum
from collections.abc import Mapping
from typing import Any, Self


class Spelled(enum.Enum):
    """An enum whose members are found by how files and answers spell them."""

    @classmethod
    def parse_string(cls, text: str) -> Any:
        """Return the member that `text` spells, or `UNKNOWN`."""
        name = _SPELLINGS[cls.__name__].get(text.lower(), "UNKNOWN")
        return cls[name]


class Named(Spelled):
    """An enum that prints its member's bare name."""

    def __str__(self) -> str:
        return self.name


class TrinaryEnum(enum.Enum):
    """Whether an action succeeded; equal to the bool that it stands for."""

    TRUE = 1
    UNKNOWN = 2
    FALSE = 3

    @classmethod
    def parse_bool(cls, state_bool: object) -> Self:
        """Return TRUE or FALSE for a bool and UNKNOWN for anything else."""
        if isinstance(state_bool, bool):
            return cls(1 if state_bool else 3)
        return cls(2)

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool):
            return self is (TrinaryEnum.TRUE if other else TrinaryEnum.FALSE)
        return self is other

    __hash__ = enum.Enum.__hash__


class OperatingSystemPatch(Spelled):
    """Updates that a host may have; those of Scenario2 have none."""

    UNKNOWN = 1
    FILE_1 = 2
    Q147222 = 3
    KB911164 = 4
    MS17_010 = 5
    KB4500331 = 6
    KB4499149 = 7
    KB4499180 = 8
    KB4499164 = 9
    KB4499175 = 10

    def __str__(self) -> str:
        return str(self.value)


class Architecture(Spelled):
    """Processor families."""

    x86 = 1
    x64 = 2
    UNKNOWN = 3


class OperatingSystemType(Named):
    """Families of operating systems."""

    UNKNOWN = 1
    WINDOWS = 2
    LINUX = 3

    @classmethod
    def parse_string(cls, os_string: str) -> Any:
        """Return the family; any text with `windows` in it is Windows."""
        if "windows" in os_string.lower():
            return cls.WINDOWS
        return super().parse_string(os_string)


class OperatingSystemDistribution(Named):
    """Editions of operating systems."""

    UNKNOWN = 1
    WINDOWS_XP = 2
    WINDOWS_SVR_2003 = 3
    WINDOWS_SVR_2008 = 4
    WINDOWS_7 = 5
    WINDOWS_8 = 6
    WINDOWS_10 = 7
    UBUNTU = 8
    KALI = 9
    WINDOWS_SVR_2003SP2 = 10
    WINDOWS_VISTA = 11
    WINDOWS_SVR_2008SP1 = 12
    WINDOWS_SVR_2008R2 = 13
    WINDOWS_7SP1 = 14

    @classmethod
    def parse_string(cls, os_string: str) -> Any:
        """Return the edition: by its exact spelling, else by the first sign of it in the text."""
        text = os_string.lower()
        exact = super().parse_string(text)
        if exact is not cls.UNKNOWN:
            return exact
        for sign, name in _SIGNS_OF_DISTRIBUTIONS:
            if sign in text and (not name.startswith("WINDOWS") or "window" in text):
                return cls[name]
        return cls.UNKNOWN


class OperatingSystemVersion(Named):
    """Releases of operating systems."""

    UNKNOWN = 1
    SP0 = 2
    SP1 = 3
    SP2 = 4
    SP3 = 5
    U18_04_3 = 6
    U18_04 = 7
    U8_04 = 8
    K2019_1 = 9
    K2019_2 = 10
    K2019_4 = 11
    W6_2_9200_16384 = 12
    W6_1_7601 = 13
    NT6_1 = 14

    @classmethod
    def parse_string(cls, os_string: str) -> Any:
        """Return the release; two of them are known by a part of the text."""
        text = os_string.lower()
        if "6.1.7601" in text:
            return cls.W6_1_7601
        if "4.19.0-kali4" in text:
            return cls.K2019_4
        return super().parse_string(text)


class OperatingSystemKernelVersion(Named):
    """Kernels; the hosts of Scenario2 do not tell theirs."""

    UNKNOWN = 1
    L2_6_24 = 2
    L4_15_0_1057_AWS = 3
    L5_2_0 = 4
    L5_3_0 = 5


class ProcessName(Spelled):
    """Programs that are known by their file's name."""

    UNKNOWN = 1
    SVCHOST = 2
    INIT = 3
    CRON = 4
    UDEVD = 5
    JSVC = 6
    SSHD = 7
    MYSQLD_SAFE = 8
    MYSQLD = 9
    SMBD = 10
    SMTP = 11
    FEMITTER = 12
    APACHE2 = 13
    EXPLORER = 14
    LSASS = 15
    WINLOGON = 16
    SMSS = 17
    SYSTEM = 18
    SYSTEM_IDLE_PROCESS = 19
    SERVICES = 20
    SHELL = 21
    TELNET = 22
    SLEEP = 23
    JAVA = 24
    PS = 25
    VELOCLIENT = 26
    POWERSHELL = 27
    CMD = 28


class ProcessType(Named):
    """What a process serves, or how Red made it."""

    UNKNOWN = 1
    SSH = 2
    SVCHOST = 3
    SMB = 4
    SMTP = 5
    FEMITTER = 6
    WEBSERVER = 7
    NETCAT = 8
    RDP = 9
    REVERSE_SESSION_HANDLER = 10
    REVERSE_SESSION = 11
    MYSQL = 12

    @classmethod
    def parse_string(cls, service_string: str) -> Any:
        """Return the type; spaces in `web server` do not count."""
        if service_string.lower().replace(" ", "") == "webserver":
            return cls.WEBSERVER
        return super().parse_string(service_string)


class ProcessVersion(enum.Enum):
    """Releases of served programs."""

    OPENSSH_1_3 = 1
    SVC10_0_17763_1 = 2
    SAMBA_3_0_20_DEB = 3
    SMBv1 = 4
    APACHE_TOMCAT = 5
    PYTHON_SERVER = 6
    HARAKA_2_7_0 = 7
    HARAKA_2_8_9 = 8
    UNKNOWN = 9

    @classmethod
    def parse_string(cls, version_string: Any) -> Any:
        """Return the release; what spells none is returned as it is, and None is UNKNOWN."""
        if version_string is None:
            return cls.UNKNOWN
        if not isinstance(version_string, str):
            return version_string
        text = version_string.lower()
        name = _SPELLINGS["ProcessVersion"].get(text)
        return text if name is None else cls[name]


class TransportProtocol(Named):
    """How a socket is spoken to; Scenario2's images name protocols in a way that CybORG does not read."""

    UNKNOWN = 1
    TCP = 2
    UDP = 3


class BuiltInGroups(Spelled):
    """Groups that every system of a kind has."""

    UNKNOWN = 1
    USERS = 2
    WEBSERVER = 3
    ROOT = 4
    SHADOW = 5
    ADMINISTRATORS = 6


class SessionType(Named):
    """Kinds of sessions; Green's are grey."""

    UNKNOWN = 1
    SSH = 2
    SHELL = 3
    METERPRETER = 4
    MSF_SHELL = 5
    MSF_SERVER = 6
    VELOCIRAPTOR_CLIENT = 7
    VELOCIRAPTOR_SERVER = 8
    LOCAL_SHELL = 9
    RED_ABSTRACT_SESSION = 10
    RED_REVERSE_SHELL = 11
    GREY_SESSION = 12

    @classmethod
    def parse_string(cls, service_string: str) -> Any:
        """Return the kind; a local shell may be written with a space or an underscore."""
        if service_string.lower().replace(" ", "").replace("_", "") == "localshell":
            return cls.LOCAL_SHELL
        return super().parse_string(service_string)


class Path(Spelled):
    """Folders that mean something to an agent."""

    UNKNOWN = 1
    WINDOWS = 2
    WINDOWS_SYSTEM = 3
    SYSTEM = 4
    TEMP = 5
    SBIN = 6
    BIN = 7
    USR_SBIN = 8
    USR_BIN = 9
    ETC = 10
    ADMINISTRATOR_DESKTOP = 11
    WEBSERVER = 12
    EXPLOIT = 13


class ProcessState(Named):
    """What a scan says about a port."""

    UNKNOWN = 1
    OPEN = 2
    CLOSED = 3
    FILTERED = 4


class FileType(Spelled):
    """Files that are known by their name."""

    UNKNOWN = 1
    SVCHOST = 2
    PASSWD = 3
    SHADOW = 4
    FLAG = 5
    SMBCLIENT = 6
    NMAP = 7
    DirtyCowCode = 8
    DirtyCowExe = 9
    PYTHON = 10
    GCC = 11
    UDEV141CODE = 12
    UDEV141EXE = 13
    NC_REVERSE_SHELL = 14
    NC = 15


class FileVersion(Spelled):
    """Releases of files."""

    UNKNOWN = 1
    U4_2_4_1 = 2
    D9_2_1_21 = 3
    OPENBSD = 4


class FileExt(Spelled):
    """Formats of files."""

    ELF = 1
    UNKNOWN = 2


class Vulnerability(Spelled):
    """Known weaknesses: none has a name."""

    UNKNOWN = 1


class Vendor(Spelled):
    """Makers of files: none has a name."""

    UNKNOWN = 1


class PasswordHashType(Spelled):
    """How a password is stored."""

    UNKNOWN = 1
    MD5 = 2
    SHA512 = 3
    NTLM = 4


class InterfaceType(Spelled):
    """What a socket is bound to."""

    UNKNOWN = 1
    BROADCAST = 2
    LOCAL = 3


class AppProtocol(Spelled):
    """What is spoken over a connection."""

    UNKNOWN = 1
    HTTP = 2
    HTTPS = 3
    SSH = 4
    JPV13 = 5
    TCP = 6
    MYSQL = 7
    NETBIOS_SSN = 8
    MICROSOFT_DS = 9
    RPC = 10


class QueryType(enum.Enum):
    """Whether an emulator waits for an answer."""

    SYNC = 1
    ASYNC = 2

    @classmethod
    def parse_string(cls, query_string: str) -> Self | None:
        """Return the type, or None."""
        name = query_string.upper()
        return cls[name] if name in cls.__members__ else None


class DecoyType(enum.Flag):
    """Which actions of Red a decoy stops."""

    NONE = 0
    ESCALATE = 1
    EXPLOIT = 2
    SANDBOXING_EXPLOIT = 4


_SIGNS_OF_DISTRIBUTIONS = (
    ("windows server 2008", "WINDOWS_SVR_2008"),
    ("ubuntu", "UBUNTU"),
    ("kali", "KALI"),
    ("2003sp2", "WINDOWS_SVR_2003SP2"),
    ("vista", "WINDOWS_VISTA"),
    ("svr 2008sp1", "WINDOWS_SVR_2008SP1"),
    ("svr 2008r2", "WINDOWS_SVR_2008R2"),
    ("7sp1", "WINDOWS_7SP1"),
)


def _spellings(**names: str) -> dict[str, str]:
    """Return spelling -> member from member -> spellings with `|` between them."""
    return {spelling: name for name, spellings in names.items() for spelling in spellings.split("|")}


_SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "OperatingSystemPatch": _spellings(
        FILE_1="file 1",
        Q147222="q147222",
        KB911164="kb911164",
        MS17_010="ms17-010",
        KB4500331="kb4500331",
        KB4499149="kb4499149",
        KB4499180="kb4499180",
        KB4499164="kb4499164",
        KB4499175="kb4499175",
    ),
    "Architecture": _spellings(x86="x86", x64="x64|x86_64"),
    "OperatingSystemType": _spellings(LINUX="linux"),
    "OperatingSystemDistribution": _spellings(
        WINDOWS_XP="windows xp",
        WINDOWS_SVR_2003="windows server 2003",
        WINDOWS_SVR_2008="windows_svr_2008",
        WINDOWS_7="windows 7",
        WINDOWS_8="windows 8",
        WINDOWS_10="windows 10",
    ),
    "OperatingSystemVersion": _spellings(
        SP0="sp0",
        SP1="sp1",
        SP2="sp2",
        SP3="sp3",
        W6_2_9200_16384="6.2.9200.16384",
        W6_1_7601="w6_1_7601",
        U18_04_3="18.04.3|u18_04_3",
        U18_04="18.04",
        U8_04="8.04",
        K2019_1="2019.1",
        K2019_2="2019.2",
        K2019_4="k2019_4",
        NT6_1="nt6.1",
    ),
    "OperatingSystemKernelVersion": _spellings(
        L2_6_24="linux 2.6.24", L4_15_0_1057_AWS="4.15.0-1057-aws", L5_2_0="linux 5.2.0", L5_3_0="linux 5.3.0"
    ),
    "ProcessName": _spellings(
        SVCHOST="svchost|svchost.exe",
        INIT="init",
        CRON="cron",
        UDEVD="udevd",
        JSVC="jsvc",
        SSHD="sshd|sshd.exe",
        MYSQLD_SAFE="mysqld_safe",
        MYSQLD="mysqld",
        SMBD="smbd",
        SMTP="smtp",
        FEMITTER="femitter.exe",
        APACHE2="apache2",
        EXPLORER="explorer|explorer.exe",
        LSASS="lsass|lsass.exe",
        WINLOGON="winlogon|winlogon.exe",
        SMSS="smss|smss.exe",
        SYSTEM="system",
        SYSTEM_IDLE_PROCESS="system idle process|system process",
        SERVICES="services|services.exe",
        SHELL="bash|sh|sh.exe",
        TELNET="telnet",
        SLEEP="sleep",
        JAVA="java",
        PS="ps",
        VELOCLIENT="velociraptorclient",
        POWERSHELL="powershell|powershell.exe",
        CMD="cmd|cmd.exe",
    ),
    "ProcessType": _spellings(
        SSH="ssh|sshd|sshd.exe",
        SVCHOST="svchost",
        SMTP="smtp",
        FEMITTER="femitter",
        MYSQL="mysql",
        SMB="smb",
        NETCAT="netcat",
        RDP="rdp",
        REVERSE_SESSION_HANDLER="reverse_session_handler",
        REVERSE_SESSION="reverse_session",
        WEBSERVER="http|https",
    ),
    "ProcessVersion": _spellings(
        OPENSSH_1_3="openssh 1.3",
        SVC10_0_17763_1="10.0.17763.1",
        SAMBA_3_0_20_DEB="samba 3.0.20-debian",
        APACHE_TOMCAT="apache tomcat",
        PYTHON_SERVER="python simplehttpserver",
        SMBv1="smbv1",
        HARAKA_2_7_0="haraka 2.7.0",
    ),
    "TransportProtocol": _spellings(TCP="tcp", UDP="udp"),
    "BuiltInGroups": _spellings(
        USERS="users", WEBSERVER="web server users", ROOT="root", SHADOW="shadow", ADMINISTRATORS="administrators"
    ),
    "SessionType": _spellings(
        SSH="ssh",
        SHELL="shell",
        METERPRETER="meterpreter",
        MSF_SHELL="msf shell|msf_shell",
        MSF_SERVER="metasploitserver",
        VELOCIRAPTOR_CLIENT="velociraptorclient",
        VELOCIRAPTOR_SERVER="velociraptorserver",
        RED_ABSTRACT_SESSION="redabstractsession",
        RED_REVERSE_SHELL="red_reverse_shell",
        GREY_SESSION="green_session",
    ),
    "Path": _spellings(
        SYSTEM="system",
        WINDOWS_SYSTEM="c:/windows/system32/|c:\\windows\\system32\\",
        WINDOWS="c:/windows/|c:\\windows\\",
        TEMP="/tmp/|c:\\temp\\",
        SBIN="/sbin/|/sbin",
        BIN="/bin/|/bin",
        USR_SBIN="/usr/sbin/|/usr/sbin",
        USR_BIN="/usr/bin/|/usr/bin",
        ETC="/etc/|/etc",
        ADMINISTRATOR_DESKTOP="c:\\users\\administrator\\desktop\\",
        WEBSERVER="/tmp/webserver/",
        EXPLOIT="/usr/share/exploitdb/exploits/linux/local/",
    ),
    "ProcessState": _spellings(OPEN="open", CLOSED="closed", FILTERED="filtered"),
    "FileType": _spellings(
        SVCHOST="svchost",
        PASSWD="passwd",
        SHADOW="shadow",
        FLAG="flag",
        SMBCLIENT="smbclient",
        NMAP="nmap",
        DirtyCowCode="dirty_cow_c_file",
        PYTHON="python",
        GCC="gcc",
        UDEV141CODE="udev < 1.4.1",
        NC_REVERSE_SHELL="nc_reverse_shell",
        NC="nc",
    ),
    "FileVersion": _spellings(U4_2_4_1="ubuntu 4.2.4-1", D9_2_1_21="debian 9.2.1-21", OPENBSD="openbsd"),
    "FileExt": _spellings(ELF="elf"),
    "Vulnerability": {},
    "Vendor": {},
    "PasswordHashType": _spellings(MD5="md5", SHA512="sha512", NTLM="ntlm"),
    "InterfaceType": _spellings(BROADCAST="broadcast", LOCAL="local"),
    "AppProtocol": _spellings(
        HTTP="http",
        HTTPS="https",
        SSH="ssh",
        JPV13="jpv13",
        TCP="tcp",
        MYSQL="mysql",
        NETBIOS_SSN="netbios-ssn",
        MICROSOFT_DS="microsoft-ds",
        RPC="rpc",
    ),
}
