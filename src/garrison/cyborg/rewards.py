"""What a step is worth to each agent, and which hosts it is for."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from garrison.cage2.names import HOSTS, Access, Host
from garrison.cyborg.image_facts import scenario

GREEN_REWARD = 0.0


@cache
def _worth() -> tuple[list[float], float]:
    """Return what a privileged session is worth on each host, and the OTService."""
    return scenario()["confidentiality"].tolist(), float(scenario()["service_cost"])


class HostReward(NamedTuple):
    """A host's part of the reward."""

    confidentiality: float
    availability: float


class Losses(NamedTuple):
    """What Red holds after a step."""

    confidentiality: float
    availability: float

    @property
    def blue(self) -> float:
        """Blue's reward, without the price of its action; added up as the original does."""
        return -self.availability + -self.confidentiality

    @property
    def red(self) -> float:
        """Red's reward, without the price of its action."""
        return round(self.confidentiality + self.availability, 1)


def losses(access: Sequence[int], is_running: bool) -> Losses:
    """Return what Red's access to each host, and the state of the OTService, are worth."""
    worth, service = _worth()
    held = sum(value for value, level in zip(worth, access, strict=True) if level == Access.PRIVILEGED)
    return Losses(round(held, 1), 0 if is_running else service)


def breakdown(access: Sequence[int], is_running: bool, sign: int) -> dict[str, HostReward]:
    """Return each host's part of the reward, negative for Blue (`sign` -1)."""
    worth, service = _worth()
    scores = {}
    for h, name in enumerate(HOSTS):
        held = sign * worth[h] if access[h] == Access.PRIVILEGED else 0
        down = sign * service if h == Host.OP_SERVER0 and not is_running else 0
        scores[name] = HostReward(held, down)
    return scores
