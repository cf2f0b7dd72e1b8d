"""Red's actions, and how the simulator numbers them."""

import random
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any, NamedTuple

from garrison.cage2.names import EXPLOITS, HOSTS, PORTS, RedKind
from garrison.cyborg.action_base import Action, ConcreteAction, Inside, Sleep
from garrison.cyborg.blue_actions import HostAction
from garrison.cyborg.episode_addresses import EpisodeAddresses
from garrison.cyborg.image_facts import RED, exploit_ports


class DiscoverRemoteSystems(Action):
    """Ask which addresses of a subnet answer."""

    def __init__(self, session: int, agent: str, subnet: IPv4Network) -> None:
        self.subnet = subnet
        self.agent = agent
        self.session = session

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.subnet}"


class DiscoverNetworkServices(Action):
    """Ask which ports of an address are open."""

    def __init__(self, session: int, agent: str, ip_address: IPv4Address) -> None:
        self.ip_address = ip_address
        self.agent = agent
        self.session = session

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.ip_address}"


class ExploitRemoteService(Action):
    """Try an exploit that fits the ports seen at an address; `sub_action` is the one that was chosen."""

    def __init__(self, session: int, agent: str, ip_address: IPv4Address, priority: Any = None) -> None:
        self.ip_address = ip_address
        self.agent = agent
        self.session = session
        self.exploit_action_selector = _EXPLOIT_SELECTOR
        self.priority = priority

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.ip_address}"


class PrivilegeEscalate(HostAction):
    """Make a session on a host privileged, and look around there."""

    def __init__(self, session: int, agent: str, hostname: str) -> None:
        super().__init__(session, agent, hostname)
        self.escalate_action_selector = _ESCALATE_SELECTOR


class Impact(HostAction):
    """Stop the operational service of a host."""


class ExploitAction(ConcreteAction):
    """Attack one kind of process at an address; which session is named as the target makes no difference."""

    def __init__(self, session: int, agent: str, ip_address: IPv4Address, target_session: int) -> None:
        super().__init__(session, agent)
        self.state: Inside | None = None
        self.ip_address = ip_address
        self.target_session = target_session
        self.detection_rate = 0.95


class BlueKeep(ExploitAction):
    """Attack a remote desktop."""


class EternalBlue(ExploitAction):
    """Attack shared files on Windows."""


class FTPDirectoryTraversal(ExploitAction):
    """Attack an FTP server."""


class HarakaRCE(ExploitAction):
    """Attack a mail server."""


class HTTPRFI(ExploitAction):
    """Attack a web server on port 80."""


class HTTPSRFI(ExploitAction):
    """Attack a web server on port 443."""


class SQLInjection(ExploitAction):
    """Attack a database."""


class SSHBruteForce(ExploitAction):
    """Guess a password at an SSH server."""

    def __init__(self, ip_address: IPv4Address, agent: str, session: int, target_session: int) -> None:
        super().__init__(session, agent, ip_address, target_session)


_EXPLOIT_SELECTOR = Inside("ExploitRemoteService.exploit_action_selector")
_ESCALATE_SELECTOR = Inside("PrivilegeEscalate.escalate_action_selector")
_STATE = Inside("ExploitAction.state")

RED_ACTIONS: tuple[type[Action], ...] = (
    Sleep,
    DiscoverRemoteSystems,
    DiscoverNetworkServices,
    ExploitRemoteService,
    BlueKeep,
    EternalBlue,
    FTPDirectoryTraversal,
    HarakaRCE,
    HTTPRFI,
    HTTPSRFI,
    SQLInjection,
    PrivilegeEscalate,
    Impact,
    SSHBruteForce,
)
"""What Scenario2 lets Red do."""

_EXPLOIT_CLASSES = tuple({action.__name__: action for action in RED_ACTIONS}[name] for name in EXPLOITS)
_SQL = EXPLOITS.index("SQLInjection")
_WEB_BITS = 1 << PORTS.index(80) | 1 << PORTS.index(443)


class RedMove(NamedTuple):
    """An action of Red as the simulator's codes."""

    kind: int
    target: int = -1
    exploit: int = -1


SLEEP = RedMove(RedKind.SLEEP)
INVALID = RedMove(RedKind.INVALID)


def red_move(action: Any, network: EpisodeAddresses, seen: Sequence[int]) -> RedMove:
    """Return the codes of a valid action; `seen` are the masks of ports that Red saw on each host, -1: none yet."""
    if isinstance(action, DiscoverRemoteSystems):
        return RedMove(RedKind.SWEEP, network.subnet_of[action.subnet])
    if isinstance(action, DiscoverNetworkServices):
        return RedMove(RedKind.SCAN, network.host_of[action.ip_address])
    if isinstance(action, ExploitRemoteService):
        h = network.host_of[action.ip_address]
        return RedMove(RedKind.EXPLOIT, h, _preferred(action.priority, seen[h]))
    if isinstance(action, PrivilegeEscalate):
        return RedMove(RedKind.ESCALATE, HOSTS.index(action.hostname))
    if isinstance(action, Impact):
        return RedMove(RedKind.IMPACT, HOSTS.index(action.hostname))
    if isinstance(action, ExploitAction):
        exploit = _EXPLOIT_CLASSES.index(type(action))
        return RedMove(RedKind.EXPLOIT, network.host_of[action.ip_address], exploit)
    return SLEEP


def _preferred(priority: Any, seen: int) -> int:
    """Return the exploit of a priority that the ports allow, -1 if the usual rules choose."""
    if priority is None or seen < 0:
        return -1
    bits = (1 << PORTS.index(port) for port in exploit_ports())
    options = [e for e, bit in enumerate(bits) if seen & bit and (e != _SQL or seen & _WEB_BITS)]
    if len(options) < 2 or priority not in (_EXPLOIT_CLASSES[e] for e in options):
        return -1
    random.random()  # CybORG draws the other choice all the same
    return _EXPLOIT_CLASSES.index(priority)


def note_exploit(action: Action, exploit: int, had_ports: bool) -> None:
    """Leave on an action what carrying it out leaves there."""
    if isinstance(action, ExploitAction):
        action.state = _STATE
    elif isinstance(action, ExploitRemoteService) and had_ports:
        action.sub_action = _exploit(exploit, action.ip_address) if exploit >= 0 else None  # type: ignore[attr-defined]


def _exploit(e: int, address: IPv4Address) -> Action:
    action = _EXPLOIT_CLASSES[e](session=0, agent=RED, ip_address=address, target_session=0)  # type: ignore[call-arg]
    action.state = _STATE  # type: ignore[attr-defined]
    return action


def scripted_action(kind: int, target: int, exploit: int, had_ports: bool, network: EpisodeAddresses) -> Action:
    """Return a new action object for what a scripted attacker did."""
    if kind == RedKind.SWEEP:
        return DiscoverRemoteSystems(0, RED, network.subnets[target])
    if kind == RedKind.SCAN:
        return DiscoverNetworkServices(0, RED, network.addresses[target])
    if kind == RedKind.ESCALATE:
        return PrivilegeEscalate(0, RED, HOSTS[target])
    if kind == RedKind.IMPACT:
        return Impact(0, RED, HOSTS[target])
    if kind == RedKind.EXPLOIT:
        action = ExploitRemoteService(0, RED, network.addresses[target])
        note_exploit(action, exploit, had_ports)
        return action
    return Sleep()
