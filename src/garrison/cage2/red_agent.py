"""An attacker of your own, as a Python class that plays Red in a whole batch (docs/extend/red_agent.md).

    class Mine(RedAgent):
        def act(self, view):
            return kinds, targets

    VectorEnv(8, red=Mine)    # or an instance, or "my_module:Mine"

Its draws come from each environment's own stream, and what it has tried is kept in each environment's state, so that
seeds, `get_state`, `clone` and checkpoints mean what they mean with the scripted attackers.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from garrison.cage2.inputs import red_actions
from garrison.cage2.names import NUM_HOSTS, NUM_SUBNETS, RedKind
from garrison.cage2.rng import uniform
from garrison.contract.importing import import_named
from garrison.errors import UserError
from garrison.jit import kernel, records

Flags = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]

TRIED = {RedKind.SWEEP: "swept", RedKind.SCAN: "scanned", RedKind.EXPLOIT: "exploited", RedKind.ESCALATE: "escalated"}
"""Where a state keeps which targets Red has tried in this episode: masks that scripted attackers use in the same way"""


class RedView:
    """What Red knows in each environment of a batch; the first axis is the environment.

    Numbers are those of `garrison.cage2.names`: hosts, subnets, `Access`, `RedKind`, `Success`.
    """

    def __init__(self, envs: NDArray[np.void]) -> None:
        self._envs = envs
        self.num_envs = len(envs)

    @property
    def t(self) -> Ints:
        """(n,) steps taken in this episode."""
        return self._read("t")

    @property
    def known_address(self) -> Flags:
        """(n, 13) whether Red knows the address: it can scan and exploit there."""
        return self._flags("known_address")

    @property
    def known_host(self) -> Flags:
        """(n, 13) whether Red knows the hostname: it can escalate there."""
        return self._flags("known_host")

    @property
    def known_subnet(self) -> Flags:
        """(n, 3) whether Red knows the subnet: it can sweep there."""
        return self._flags("known_subnet")

    @property
    def ports(self) -> Ints:
        """(n, 13) mask of the ports that Red remembers, bit i is `PORTS[i]`; -1 where no scan was answered."""
        return self._read("red_ports")

    @property
    def access(self) -> Ints:
        """(n, 13) `Access` of Red's best session."""
        return self._read("access")

    @property
    def sessions(self) -> Ints:
        """(n, 13) number of Red's sessions."""
        return self._read("sessions")

    @property
    def service_known(self) -> Flags:
        """(n,) whether Red knows the OTService: Impact can stop it."""
        return self._flags("ot_known")

    @property
    def last_kind(self) -> Ints:
        """(n,) `RedKind` of the last action."""
        return self._read("red_kind")

    @property
    def last_target(self) -> Ints:
        """(n,) its host, a sweep's subnet, -1 for Sleep."""
        return self._read("red_target")

    @property
    def last_success(self) -> Ints:
        """(n,) its `Success`."""
        return self._read("red_success")

    def tried(self, kind: int) -> Flags:
        """Return which targets had an action of this kind in this episode: (n, 3) for a sweep, else (n, 13).

        Kept for `SWEEP`, `SCAN`, `EXPLOIT` and `ESCALATE`.
        """
        places = np.arange(NUM_SUBNETS if kind == RedKind.SWEEP else NUM_HOSTS)
        flags: Flags = (self._envs[TRIED[kind]][:, None] >> places) & 1 != 0
        return flags

    def uniform(self) -> NDArray[np.float64]:
        """Draw a number from [0, 1) in each environment, from its own stream: (n,)."""
        numbers = np.empty(self.num_envs)
        draw_uniform(records(self._envs), numbers)
        return numbers

    def pick(self, allowed: Flags) -> NDArray[np.int64]:
        """Draw one of the columns of `allowed` that are set in each environment, -1 where none is: (n,)."""
        allowed = np.asarray(allowed, np.bool_)
        places = np.cumsum(allowed, axis=1)
        rank = (self.uniform() * places[:, -1]).astype(np.int64)
        return np.where(places[:, -1] > 0, (places > rank[:, None]).argmax(axis=1), -1)

    def _flags(self, field: str) -> Flags:
        flags: Flags = self._envs[field] != 0
        return flags

    def _read(self, field: str) -> Ints:
        values: Ints = self._envs[field].view()
        values.flags.writeable = False
        return values


class RedAgent(ABC):
    """Chooses Red's actions in a batch of environments.

    A row of what `act` returns may depend on that row of the view only, and draws come from `view.uniform` and
    `view.pick`: then an episode depends on its seed and Blue's actions, never on the size of the batch.
    """

    def reset(self, mask: Flags) -> None:
        """Forget the environments where `mask` is set, because episodes begin there; the first time it is everywhere.

        Only for what the agent keeps in itself, which `get_state` and `clone` do not have; `view.tried` needs nothing.
        """
        return

    @abstractmethod
    def act(self, view: RedView) -> tuple[ArrayLike, ArrayLike]:
        """Return for each environment a kind, as in `RedKind`, and a target: a host, for a sweep a subnet.

        Naming what Red does not know is an invalid action, which fails as in CybORG; for Sleep the target is ignored.
        """


def own_agent(red: Any) -> RedAgent | None:
    """Return the attacker that a user wrote: an instance, a class, or `module:Class`; None for all other values."""
    if isinstance(red, str) and ":" in red:
        red = import_named(red)
        if not (isinstance(red, RedAgent) or (isinstance(red, type) and issubclass(red, RedAgent))):
            raise UserError(f"{red!r} is no attacker: derive a class from garrison.cage2.RedAgent.")
    if isinstance(red, type) and issubclass(red, RedAgent):
        return red()
    return red if isinstance(red, RedAgent) else None


def play_red(agent: RedAgent, envs: NDArray[np.void], actions: NDArray[np.int8]) -> None:
    """Ask an agent for the actions of this step, write them and remember what it tries."""
    starts = envs["t"] == 0
    if starts.any():
        agent.reset(starts)
    answer = agent.act(RedView(envs))
    try:
        kinds, targets = (np.broadcast_to(np.asarray(part), len(envs)) for part in answer)
    except (TypeError, ValueError):
        raise UserError(
            f"{type(agent).__name__}.act must return kinds and targets, one of each for {len(envs)} environments."
        ) from None
    chosen = red_actions(np.stack([kinds, np.where(kinds == RedKind.SLEEP, 0, targets)], axis=1), len(envs))
    for kind, field in TRIED.items():
        count = NUM_SUBNETS if kind == RedKind.SWEEP else NUM_HOSTS
        rows = np.flatnonzero((chosen[:, 0] == kind) & (chosen[:, 1] < count))
        envs[field][rows] |= (1 << chosen[rows, 1]).astype(envs[field].dtype)
    actions[:] = chosen


@kernel(cached=True)
def draw_uniform(envs: NDArray[np.void], numbers: NDArray[np.float64]) -> None:
    """Draw one number in each environment."""
    for i in range(len(envs)):
        numbers[i] = uniform(envs[i])
