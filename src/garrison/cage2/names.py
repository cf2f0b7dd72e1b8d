"""Every integer code of CAGE-2 and its name, defined once.

A group such as `Access` is an instance of a named tuple: inside a kernel `Access.PRIVILEGED` is a constant, outside it
`Access._fields` are the names. Spelling follows CybORG.
"""

from typing import NamedTuple

HOSTS = (
    "Defender",
    "Enterprise0",
    "Enterprise1",
    "Enterprise2",
    "Op_Host0",
    "Op_Host1",
    "Op_Host2",
    "Op_Server0",
    "User0",
    "User1",
    "User2",
    "User3",
    "User4",
)
"""The hosts in the order of the observation and of every array that has one entry per host."""
SUBNETS = ("Enterprise", "Operational", "User")
PORTS = (21, 22, 25, 53, 68, 80, 135, 139, 443, 445, 3389, 3390)  # bit i of a port mask
EXPLOITS = (
    "SSHBruteForce",
    "BlueKeep",
    "EternalBlue",
    "HTTPRFI",
    "HTTPSRFI",
    "SQLInjection",
    "HarakaRCE",
    "FTPDirectoryTraversal",
)
DECOYS = (
    "DecoyApache",
    "DecoyFemitter",
    "DecoyHarakaSMPT",
    "DecoySmss",
    "DecoySSHD",
    "DecoySvchost",
    "DecoyTomcat",
    "DecoyVsftpd",
)
NUM_HOSTS = len(HOSTS)
NUM_SUBNETS = len(SUBNETS)
NUM_EXPLOITS = len(EXPLOITS)
NUM_DECOYS = len(DECOYS)


class _Host(NamedTuple):
    DEFENDER: int = 0
    ENTERPRISE0: int = 1
    ENTERPRISE1: int = 2
    ENTERPRISE2: int = 3
    OP_HOST0: int = 4
    OP_HOST1: int = 5
    OP_HOST2: int = 6
    OP_SERVER0: int = 7
    USER0: int = 8
    USER1: int = 9
    USER2: int = 10
    USER3: int = 11
    USER4: int = 12


class _Subnet(NamedTuple):
    ENTERPRISE: int = 0
    OPERATIONAL: int = 1
    USER: int = 2


class _Access(NamedTuple):
    """Red's hold on a host."""

    NONE: int = 0
    USER: int = 1
    PRIVILEGED: int = 2


class _Genuine(NamedTuple):
    """What an exploit does on a host's own process."""

    ABSENT: int = -1  # no such process: the exploit meets a decoy or fails silently
    NOISY_FAILURE: int = 0  # Defender's sshd, which has no account to guess
    USER: int = 1
    PRIVILEGED: int = 2


class _Belief(NamedTuple):
    """Blue's sticky belief about a host; bit 0 and bit 1 are the third and fourth value of its observation."""

    NO: int = 0
    UNKNOWN: int = 1
    USER: int = 2
    PRIVILEGED: int = 3


class _Activity(NamedTuple):
    """What Blue saw on a host in this step; bit 0 and bit 1 are the first and second value of its observation."""

    NONE: int = 0
    SCAN: int = 1
    EXPLOIT: int = 3


class _BlueKind(NamedTuple):
    SLEEP: int = 0
    MONITOR: int = 1
    ANALYSE: int = 2
    REMOVE: int = 3
    DECOY: int = 4
    RESTORE: int = 5


class _RedKind(NamedTuple):
    SLEEP: int = 0
    SWEEP: int = 1  # DiscoverRemoteSystems
    SCAN: int = 2  # DiscoverNetworkServices
    EXPLOIT: int = 3  # ExploitRemoteService
    ESCALATE: int = 4  # PrivilegeEscalate
    IMPACT: int = 5
    INVALID: int = 6  # an external attacker named something Red does not know


class _Success(NamedTuple):
    NO: int = 0
    YES: int = 1
    UNKNOWN: int = -1


class _Red(NamedTuple):
    """Who plays Red. Saved states hold these codes: add new attackers at the end."""

    BLINE: int = 0
    MEANDER: int = 1
    SLEEP: int = 2
    EXTERNAL: int = 3  # not scripted: its actions come with Blue's


class _Observation(NamedTuple):
    """What a batch shows to Blue (observation_sets.py)."""

    BITS: int = 0  # the challenge's 52
    MEMORY: int = 1  # and behind them what a defender can remember
    HISTORY: int = 2  # and behind that when it happened


class _Suspect(NamedTuple):
    """Who Red seems to be, from the first things it was seen to do."""

    NOBODY: int = 0  # nothing was seen yet
    SOMEBODY: int = 1  # one scan was seen; the next step tells
    BLINE: int = 2
    MEANDER: int = 3


class _Source(NamedTuple):
    """Where an environment's random draws come from."""

    STREAM: int = 0  # its own generator
    TAPE: int = 1  # a recording of CybORG's draws
    CYBORG: int = 2  # Python's generator, used as CybORG uses it


Host = _Host()
Subnet = _Subnet()
Access = _Access()
Genuine = _Genuine()
Belief = _Belief()
Activity = _Activity()
BlueKind = _BlueKind()
RedKind = _RedKind()
Success = _Success()
Red = _Red()
Observation = _Observation()
Source = _Source()
Suspect = _Suspect()

# The names that users give.
REDS = tuple(name.lower() for name in Red._fields)
NUM_REDS = len(REDS)
SCRIPTED_REDS = tuple(name for name in REDS if name != "external")
RULES = ("head", "leaderboard")
ENCODERS = ("challenge", "wrapper2")
OBSERVATIONS = tuple(name.lower() for name in Observation._fields)
ACTION_SETS = ("all", "compact")
SOURCES = ("stream", "cyborg")

# What they get if they name nothing.
DEFAULT_RED = REDS[0]
DEFAULT_RULES = RULES[0]
DEFAULT_LENGTH = 100
DEFAULT_ENCODER = ENCODERS[0]
DEFAULT_OBSERVATION = OBSERVATIONS[0]
DEFAULT_ACTIONS = ACTION_SETS[0]
DEFAULT_SOURCE = SOURCES[0]

RED_ACTIONS = (
    "Sleep",
    "DiscoverRemoteSystems",
    "DiscoverNetworkServices",
    "ExploitRemoteService",
    "PrivilegeEscalate",
    "Impact",
    "InvalidAction",
)  # CybORG's names, in the order of `RedKind`
BELIEFS = ("No", "Unknown", "User", "Privileged")
ACTIVITIES = {Activity.NONE: "None", Activity.SCAN: "Scan", Activity.EXPLOIT: "Exploit"}
ACCESSES = ("None", "User", "Privileged")

# Blue's actions: Sleep, Monitor, then blocks of one action per host.
BLOCKS = ("Analyse", "Remove", *DECOYS, "Restore")
FIRST_BLOCK = 2
REMOVE_BLOCK = 1
DECOY_BLOCK = 2
RESTORE_BLOCK = len(BLOCKS) - 1
NUM_ACTIONS = FIRST_BLOCK + len(BLOCKS) * NUM_HOSTS


class Action(NamedTuple):
    """One row of the action table."""

    id: int
    name: str
    """CybORG's name and target, such as `Restore Op_Server0`"""
    kind: int
    """A code of `BlueKind`"""
    host: int
    """The target's id, -1 for Sleep and Monitor"""
    decoy: int
    """The decoy's id, -1 unless `kind` is `BlueKind.DECOY`"""


def _action_table() -> tuple[Action, ...]:
    rows = [Action(0, "Sleep", BlueKind.SLEEP, -1, -1), Action(1, "Monitor", BlueKind.MONITOR, -1, -1)]
    for b, block in enumerate(BLOCKS):
        kind = {0: BlueKind.ANALYSE, REMOVE_BLOCK: BlueKind.REMOVE, RESTORE_BLOCK: BlueKind.RESTORE}.get(
            b, BlueKind.DECOY
        )
        decoy = b - DECOY_BLOCK if kind == BlueKind.DECOY else -1
        rows += [Action(len(rows) + h, f"{block} {HOSTS[h]}", kind, h, decoy) for h in range(NUM_HOSTS)]
    return tuple(rows)


ACTIONS = _action_table()
"""Blue's 145 actions by number: `ACTIONS[132].name` is "Restore Defender"."""
