"""Green's actions: Scenario2 lists them, and its Green only sleeps."""

from ipaddress import IPv4Network

from garrison.cyborg.action_base import Action, ConcreteAction, Sleep


class GreenPingSweep(Action):
    """Ask which addresses of a subnet answer."""

    def __init__(self, session: int, agent: str, subnet: IPv4Network) -> None:
        self.subnet = subnet
        self.agent = agent
        self.session = session

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.subnet}"


class GreenPortScan(ConcreteAction):
    """Ask which ports of a host are open."""

    def __init__(self, session: int, agent: str, hostname: str) -> None:
        super().__init__(session, agent)
        self.hostname = hostname


class GreenConnection(Action):
    """Connect to a host."""

    def __init__(self, session: int, agent: str, hostname: str) -> None:
        self.hostname = hostname
        self.agent = agent
        self.session = session


GREEN_ACTIONS: tuple[type[Action], ...] = (Sleep, GreenPingSweep, GreenPortScan, GreenConnection)
"""What Scenario2 would let Green do."""
