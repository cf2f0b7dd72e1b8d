"""An attacker of your own, as a Python class that plays Red in a whole batch (docs/extend/red_agent.md).

    class Mine(RedAgent):
        def act(self, view):
            return kinds, targets

    VectorEnv(8, red=Mine)    # or an instance, or "my_module:Mine"

Its draws come from each environment's own stream, and what it has tried is kept in each environment's state, so that
seeds, `get_state`, `clone` and checkpoints mean what they mean with the scripted attackers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from garrison.cage2.inputs import red_actions
from garrison.cage2.names import NUM_HOSTS, NUM_SUBNETS, Red, RedKind, Success
from garrison.cage2.red_observation import red_masks, red_observations
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

    def observations(self) -> NDArray[np.int8]:
        """Return all of this as bits, (n, `NUM_RED_BITS`): what a learned attacker sees (red_observation.py)."""
        return red_observations(self._envs)

    def action_masks(self) -> Flags:
        """Return (n, `NUM_RED_MOVES`): False where Red knows that a move of `red_moves.py` would fail."""
        return red_masks(self._envs)

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

    @property
    def is_external(self) -> Flags:
        """(n,) whether a scripted attacker leaves this environment to whoever asks."""
        flags: Flags = self._envs["red"] == Red.EXTERNAL
        return flags

    @property
    def member(self) -> Ints:
        """(n,) which attacker of a `RedMixture` plays; -1 before it is drawn."""
        return self._read("last_owned")

    def name_member(self, rows: NDArray[np.intp], members: Ints) -> None:
        """Keep which attacker of a `RedMixture` plays in some environments."""
        self._envs["last_owned"][rows] = members

    @contextmanager
    def some(self, rows: NDArray[np.intp]) -> Iterator[Self]:
        """Give a view of some environments; what is drawn there is drawn from their own streams."""
        part = self._envs[rows]
        yield type(self)(part)
        self._envs["stream"][rows] = part["stream"]

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

    keeps_nothing: ClassVar[bool] = False
    """Whether all that it goes by is in the view. Then a mixture asks it about its own environments only."""

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
    kinds, targets = answer_of(agent, RedView(envs))
    chosen = red_actions(np.stack([kinds, np.where(kinds == RedKind.SLEEP, 0, targets)], axis=1), len(envs))
    note_last_exploit(envs)
    for kind, field in TRIED.items():
        count = NUM_SUBNETS if kind == RedKind.SWEEP else NUM_HOSTS
        is_tried = (envs["red"] == Red.EXTERNAL) & (chosen[:, 0] == kind) & (chosen[:, 1] < count)
        rows = np.flatnonzero(is_tried)
        envs[field][rows] |= (1 << chosen[rows, 1]).astype(envs[field].dtype)
    actions[:] = chosen


def answer_of(agent: RedAgent, view: RedView) -> tuple[Ints, Ints]:
    """Ask an agent, and return a kind and a target for each environment."""
    answer = agent.act(view)
    try:
        kinds, targets = (np.broadcast_to(np.asarray(part), view.num_envs) for part in answer)
    except (TypeError, ValueError):
        raise UserError(
            f"{type(agent).__name__}.act must return kinds and targets, one of each for {view.num_envs} environments."
        ) from None
    return kinds, targets


def note_last_exploit(envs: NDArray[np.void]) -> None:
    """Keep in `mapped` where the last exploit of an attacker that is not scripted succeeded."""
    rows = np.flatnonzero((envs["red"] == Red.EXTERNAL) & (envs["red_kind"] == RedKind.EXPLOIT))
    bits = (1 << envs["red_target"][rows].astype(np.int64)).astype(envs["mapped"].dtype)
    before = envs["mapped"][rows]
    envs["mapped"][rows] = np.where(envs["red_success"][rows] == Success.YES, before | bits, before & ~bits)


@kernel(cached=True)
def draw_uniform(envs: NDArray[np.void], numbers: NDArray[np.float64]) -> None:
    """Draw one number in each environment."""
    for i in range(len(envs)):
        numbers[i] = uniform(envs[i])
