"""What Scenario2's hosts look like before anybody acts: the programs, accounts and sessions that observations show.

`cage2/scenario2.toml` has what the rules need to know about the same hosts; these facts only decide what is shown.
"""

from functools import cache
from typing import Any, NamedTuple

from garrison.cage2 import details
from garrison.cage2.names import HOSTS, PORTS, Host
from garrison.cage2.scenario import load_scenario

ANYWHERE = "0.0.0.0"
BLUE, GREEN, RED = AGENTS = ("Blue", "Green", "Red")
"""In the order in which they act."""


class ImageProgram(NamedTuple):
    """A process that runs from the start."""

    name: str
    pid: int
    parent: int | None
    user: str
    path: str | None = None
    kind: str | None = None
    """What it serves, where that does not follow from its name"""
    ports: tuple[int, ...] = ()
    version: str | None = None
    address: str = ANYWHERE
    """What its sockets are bound to"""


class Account(NamedTuple):
    """A user of a host."""

    name: str
    uid: int | str | None = None
    group: int | None = None
    password: str | None = None
    """Only of the account whose password SSHBruteForce guesses"""


class Image(NamedTuple):
    """What a host is made from."""

    windows: bool
    programs: tuple[ImageProgram, ...]
    accounts: tuple[Account, ...]


class FirstSession(NamedTuple):
    """A session that exists from the start; its process bears the name of its type."""

    agent: str
    host: int
    type: str
    user: str


_DOMAIN = "S-1-5-21-1983491181-1743339912-3520046837-"
_WINDOWS_ACCOUNTS = (
    Account("Administrator", f"{_DOMAIN}500", 0),
    Account("GreenAgent", f"{_DOMAIN}1019"),
    Account("vagrant", f"{_DOMAIN}1000", 0, "vagrant"),
    Account("SYSTEM"),
)
_ROOT = Account("root", 0, 0)
_UBUNTU = Account("ubuntu", 1000, 1000)
_LINUX_ACCOUNTS = (
    _ROOT,
    Account("www-data", 33, 33),
    Account("pi", 1001, 1001, "raspberry"),
    _UBUNTU,
    Account("GreenAgent", 1001, 1001),
)

_SSHD = ImageProgram("sshd", 1091, 1, "root", "/usr/sbin", ports=(22,))
_SSHD_EXE = ImageProgram("sshd.exe", 3368, 5956, "sshd_server", "C:\\Program Files\\OpenSSH\\usr\\sbin", ports=(22,))
_HTTP = ImageProgram("apache2", 1100, 1, "www-data", "/usr/sbin", "webserver", (80,))
_HTTPS = _HTTP._replace(ports=(443,))  # the same process, listed twice
_MYSQL = ImageProgram("mysql", 1101, 1, "root", "/etc/init.d", ports=(3390,))
_HARAKA = ImageProgram("smtp", 1102, 1, "root", "/usr/sbin", "smtp", (25,), "haraka 2.7.0")
_RPC = ImageProgram("svchost.exe", 832, 4, "SYSTEM", ports=(135,))
_RDP = ImageProgram("svchost.exe", 4400, 4, "SYSTEM", None, "rdp", (3389,))
_SMSS = ImageProgram("smss.exe", 4, 372, "SYSTEM", ports=(445, 139))
_FEMITTER = ImageProgram("femitter.exe", 3344, 5566, "SYSTEM", "C:\\Program Files\\Femitter", "femitter", (21,))
_TOMCAT = ImageProgram("tomcat8.exe", 3404, 4, "NetworkService", None, "webserver", (80, 443))
OT_SERVICE = ImageProgram("OTService", details.SERVICE_PID, 1, "root", "/root")

_SYSTEMD, _SBIN, _USR_SBIN, _USR_BIN = "/lib/systemd", "/sbin", "/usr/sbin", "/usr/bin"
_DEFENDER = (
    ImageProgram("init", 1, 0, "root", _SBIN),
    ImageProgram("systemd-journald", 389, 1, "root", _SYSTEMD),
    ImageProgram("systemd-udevd", 407, 1, "root", _SYSTEMD),
    ImageProgram("lvmetad", 409, 1, "root", _SBIN),
    ImageProgram("systemd-timesyncd", 560, 1, "systemd+", _SYSTEMD),
    ImageProgram("accounts-daemon", 790, 1, "root", "/usr/lib/accountsservice"),
    ImageProgram("atd", 802, 1, "daemon", _USR_SBIN),
    ImageProgram("bash", 803, 1, "velocir+", "/bin"),
    ImageProgram("rsyslogd", 807, 1, "syslog", _USR_SBIN),
    ImageProgram("acpid", 824, 1, "root", _USR_SBIN),
    ImageProgram("snapd", 825, 1, "root", "/usr/lib/snapd"),
    ImageProgram("dbus-daemon", 827, 1, "message+", _USR_BIN),
    ImageProgram("velociraptor.bin", 832, 803, "velocir+", "/usr/local/bin"),
    ImageProgram("cron", 844, 1, "root", _USR_SBIN),
    ImageProgram("systemd-logind", 847, 1, "root", _SYSTEMD),
    ImageProgram("python3", 852, 1, "root", _USR_BIN),
    ImageProgram("lxcfs", 853, 1, "root", _USR_BIN),
    ImageProgram("polkitd", 863, 1, "root", "/usr/lib/policykit-1"),
    ImageProgram("python3", 867, 1, "root", _USR_BIN),
    ImageProgram("agetty", 875, 1, "root", _SBIN),
    ImageProgram("agetty", 884, 1, "root", _SBIN),
    ImageProgram("python3", 1370, 1, "root", _USR_BIN),
    ImageProgram("systemd-hostnamed", 1432, 1, "root", _SYSTEMD),
    ImageProgram("sshd", 2288, 879, "root"),
    ImageProgram("sshd", 879, 1, "root", _USR_SBIN, ports=(22,)),
    ImageProgram("systemd-resolved", 656, 1, "systemd+", _SYSTEMD, ports=(53, 53), address="127.0.0.53"),
    ImageProgram("systemd-networkd", 634, 1, "systemd+", _SYSTEMD, ports=(68,), address="10.0.11.88"),
)

_GATEWAY = Image(False, (_SSHD,), _LINUX_ACCOUNTS)
_INTERNAL = Image(True, (_SSHD_EXE, _RPC, _RDP, _SMSS, _TOMCAT), _WINDOWS_ACCOUNTS)
_WINDOWS_USER = Image(True, (_SSHD_EXE, _FEMITTER), _WINDOWS_ACCOUNTS)
_IMAGES = {
    "Defender": Image(False, _DEFENDER, (_ROOT, _UBUNTU)),
    "Enterprise0": _GATEWAY,
    "Enterprise1": _INTERNAL,
    "Enterprise2": _INTERNAL,
    "Op_Host0": _GATEWAY,
    "Op_Host1": _GATEWAY,
    "Op_Host2": _GATEWAY,
    "Op_Server0": Image(False, (_SSHD, OT_SERVICE), _LINUX_ACCOUNTS),
    "User0": _WINDOWS_USER,
    "User1": _WINDOWS_USER,
    "User2": Image(True, (_SMSS._replace(kind="smb"), _RPC, _RDP._replace(user="NetworkService")), _WINDOWS_ACCOUNTS),
    "User3": Image(False, (_HTTP, _MYSQL._replace(ports=(3389,)), _HTTPS, _HARAKA), _LINUX_ACCOUNTS),
    "User4": Image(False, (_SSHD, _HTTP, _MYSQL, _HTTPS, _HARAKA), _LINUX_ACCOUNTS),
}
IMAGES = tuple(_IMAGES[name] for name in HOSTS)

SUBNET_HOSTS = tuple(tuple(int(h) for h in hosts if h >= 0) for hosts in details.SUBNET_HOSTS)
"""The hosts of each subnet, in the order in which they were given addresses."""
SUBNET_OF = tuple(next(s for s, hosts in enumerate(SUBNET_HOSTS) if h in hosts) for h in range(len(HOSTS)))

_NUM_CLIENTS = 13
_AS_SYSTEM = (Host.ENTERPRISE1, Host.ENTERPRISE2)


def _first_session(i: int, h: int) -> FirstSession:
    if i == 0:
        return FirstSession(BLUE, h, "VelociraptorServer", "ubuntu")
    if i <= _NUM_CLIENTS:
        return FirstSession(BLUE, h, "VelociraptorClient", "SYSTEM" if h in _AS_SYSTEM else "ubuntu")
    if i < len(details.FIRST_SESSIONS) - 1:
        return FirstSession(GREEN, h, "green_session", "GreenAgent")
    return FirstSession(RED, h, "RedAbstractSession", "SYSTEM")


FIRST_SESSIONS = tuple(_first_session(i, int(h)) for i, h in enumerate(details.FIRST_SESSIONS))
"""In the order in which they were made, as in the records' `session_pids`."""


class DecoyProgram(NamedTuple):
    """What a decoy looks like."""

    service: str
    name: str
    port: int
    kind: str
    properties: tuple[str, ...] | None = None
    version: str | None = None


DECOY_PROGRAMS = (
    DecoyProgram("apache2", "apache2", 80, "webserver", ("rfi",)),
    DecoyProgram("femitter", "femitter", 21, "femitter"),
    DecoyProgram("haraka", "haraka", 25, "smtp", version="haraka 2.7.0"),
    DecoyProgram("smss", "Smss.exe", 139, "smb"),
    DecoyProgram("sshd", "Sshd.exe", 22, "sshd"),
    DecoyProgram("svchost", "Svchost.exe", 3389, "rdp"),
    DecoyProgram("tomcat", "Tomcat.exe", 443, "webserver", ("rfi",)),
    DecoyProgram("vsftpd", "vsftpd", 80, "webserver", ("rfi",)),
)
"""In the order of `names.DECOYS`."""

EXPLOITED = ("ssh", "rdp", "smb", "webserver", "webserver", "mysql", "smtp", "femitter")
"""The type of process that each exploit attacks, in the order of `names.EXPLOITS`."""


@cache
def scenario() -> Any:
    """Return what the rules know about Scenario2."""
    return load_scenario()[0]


@cache
def exploit_ports() -> tuple[int, ...]:
    """Return the port that each exploit attacks."""
    return tuple(PORTS[int(mask).bit_length() - 1] for mask in scenario()["needs"])


@cache
def reveals() -> tuple[int, ...]:
    """Return the host whose address each host tells the one who takes it over, -1: none."""
    return tuple(scenario()["reveals"].tolist())
