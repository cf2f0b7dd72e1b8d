"""Blue's actions, and how the simulator numbers them."""

from garrison.cage2.names import ACTIONS
from garrison.cyborg.action_base import Action, Inside, Sleep
from garrison.cyborg.cyborg_enums import DecoyType
from garrison.cyborg.image_facts import BLUE


class Monitor(Action):
    """Look for events on all hosts; happens by itself at the end of every step."""

    def __init__(self, session: int, agent: str) -> None:
        self.agent = agent
        self.session = session


class HostAction(Action):
    """An action on a host that is named."""

    def __init__(self, session: int, agent: str, hostname: str) -> None:
        self.agent = agent
        self.session = session
        self.hostname = hostname

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.hostname}"


class Analyse(HostAction):
    """Look for files that Red left."""


class Remove(HostAction):
    """Stop the processes that were reported."""


class Restore(HostAction):
    """Return a host to its image, at a price."""

    @property
    def cost(self) -> float:
        """The price of the disruption."""
        return -1


class DecoyAction(Action):
    """Start a service that only pretends to be vulnerable."""

    def __init__(self, *, session: int, agent: str, hostname: str) -> None:
        self.agent = agent
        self.session = session
        self.hostname = hostname
        self.decoy_type = DecoyType.EXPLOIT
        self.candidate_decoys = (Inside(f"{type(self).__name__}.candidate_decoys"),)

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.hostname}"


class DecoyApache(DecoyAction):
    """Pretend to be a web server on port 80."""


class DecoyFemitter(DecoyAction):
    """Pretend to be an FTP server on Windows."""


class DecoyHarakaSMPT(DecoyAction):
    """Pretend to be a mail server on Linux."""


class DecoySmss(DecoyAction):
    """Pretend to share files on Windows."""


class DecoySSHD(DecoyAction):
    """Pretend to be an SSH server."""


class DecoySvchost(DecoyAction):
    """Pretend to be a remote desktop on Windows."""


class DecoyTomcat(DecoyAction):
    """Pretend to be a web server on port 443."""


class DecoyVsftpd(DecoyAction):
    """Pretend to be a second Apache on Linux (quirk Q12)."""


class Misinform(DecoyAction):
    """Start some decoy; Scenario2 gives this to nobody."""


BLUE_ACTIONS: tuple[type[Action], ...] = (
    Sleep,
    Monitor,
    Analyse,
    Remove,
    DecoyApache,
    DecoyFemitter,
    DecoyHarakaSMPT,
    DecoySmss,
    DecoySSHD,
    DecoySvchost,
    DecoyTomcat,
    DecoyVsftpd,
    Restore,
)
"""What Scenario2 lets Blue do."""

_CLASSES = {action.__name__: action for action in BLUE_ACTIONS}
_NAMES = tuple(row.name.split() for row in ACTIONS)
_INDEX = {(_CLASSES[name], host[0] if host else None): a for a, (name, *host) in enumerate(_NAMES)}


def blue_index(action: Action) -> int:
    """Return the number of a valid action of Blue."""
    return _INDEX[type(action), getattr(action, "hostname", None) if type(action) not in (Sleep, Monitor) else None]


def blue_action(a: int) -> Action:
    """Return a new action object for a number, as EnumActionWrapper makes it."""
    name, *host = _NAMES[a]
    if name == "Sleep":
        return Sleep()
    parameters = {"hostname": host[0]} if host else {}
    return _CLASSES[name](session=0, agent=BLUE, **parameters)  # type: ignore[call-arg]
