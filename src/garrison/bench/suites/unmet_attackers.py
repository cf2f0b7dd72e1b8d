"""Attackers that no shipped defender has met: a random one, and B_line and Meander with something changed.

With nothing changed, `BLinePlan` and `MeanderPlan` choose as the simulator's own attackers do, which a test holds them
to. What they keep follows from `RedView` alone: their last action and what became of it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from garrison.cage2 import RedAgent
from garrison.cage2.names import NUM_HOSTS, NUM_SUBNETS, Host, RedKind, Subnet, Success
from garrison.cage2.red import BLINE_TARGETS, ENTERPRISE_HOSTS, EXPLOIT_SERVER_STATE, JUMP, LAST_STATE, OP_HOSTS
from garrison.cage2.red_agent import Flags, RedView
from garrison.cage2.scenario import load_scenario

Choice = tuple[NDArray[np.int64], NDArray[np.int64]]
Ints = NDArray[np.int64]
_HOSTS = np.arange(NUM_HOSTS)
_ENTRIES = (BLINE_TARGETS >> _HOSTS) & 1 != 0
_OPERATIONAL = (OP_HOSTS >> _HOSTS) & 1 != 0
_ENTERPRISE = (ENTERPRISE_HOSTS >> _HOSTS) & 1 != 0
_REVEALS = load_scenario()["reveals"][0].astype(np.int64)
_JUMP = np.array(JUMP)
_ON_USER, _ON_REVEALED = -1, -2
_STATES: tuple[tuple[int, int], ...] = (
    (RedKind.SWEEP, Subnet.USER),
    (RedKind.SCAN, _ON_USER),
    (RedKind.EXPLOIT, _ON_USER),
    (RedKind.ESCALATE, _ON_USER),
    (RedKind.SCAN, _ON_REVEALED),
    (RedKind.EXPLOIT, _ON_REVEALED),
    (RedKind.ESCALATE, _ON_REVEALED),
    (RedKind.SWEEP, Subnet.ENTERPRISE),
    (RedKind.SCAN, Host.ENTERPRISE2),
    (RedKind.EXPLOIT, Host.ENTERPRISE2),
    (RedKind.ESCALATE, Host.ENTERPRISE2),
    (RedKind.SCAN, Host.OP_SERVER0),
    (RedKind.EXPLOIT, Host.OP_SERVER0),
    (RedKind.ESCALATE, Host.OP_SERVER0),
    (RedKind.IMPACT, Host.OP_SERVER0),
)
"""B_line's states: what it does in each, and where."""
_KINDS, _TARGETS = np.array(_STATES).T
_ENTRY_STATE = 1  # the scan of the user host


class RandomPlan(RedAgent):
    """Draws one of the kinds of action that have a target now, then one of the targets."""

    def act(self, view: RedView) -> Choice:
        """Choose among what Red knows; an escalation goes to a host with a session."""
        service = np.zeros((view.num_envs, NUM_HOSTS), np.bool_)
        service[:, Host.OP_SERVER0] = view.service_known & (view.access[:, Host.OP_SERVER0] > 0)
        targets = {
            RedKind.SWEEP: view.known_subnet,
            RedKind.SCAN: view.known_address,
            RedKind.EXPLOIT: view.known_address & (view.ports >= 0),
            RedKind.ESCALATE: view.known_host & (view.sessions > 0),
            RedKind.IMPACT: service,
        }
        kinds = np.array(list(targets))
        place = view.pick(np.stack([allowed.any(axis=1) for allowed in targets.values()], axis=1))
        picks = np.stack([view.pick(allowed) for allowed in targets.values()])
        return kinds[place], picks[place, np.arange(view.num_envs)]


class BLinePlan(RedAgent):
    """B_line: the shortest way to Op_Server0.

    Args:
        new_entry: draw another user host, and scan it, whenever a failure would lead back to the first one.
    """

    def __init__(self, new_entry: bool = False) -> None:
        self._new_entry = new_entry
        self._make(0)

    def _make(self, num_envs: int) -> None:
        self._state, self._user = np.zeros(num_envs, np.int64), np.zeros(num_envs, np.int64)
        self._begun, self._seen = np.zeros(num_envs, np.bool_), np.zeros(num_envs, np.bool_)

    def reset(self, mask: Flags) -> None:
        """Begin at the first state."""
        if len(self._state) != len(mask):
            self._make(len(mask))
        self._state[mask], self._user[mask], self._begun[mask], self._seen[mask] = 0, -1, False, False

    def act(self, view: RedView) -> Choice:
        """Go on to the next state, or back after a failure."""
        succeeded = view.last_success == Success.YES
        state = np.where(succeeded, np.minimum(self._state + 1, LAST_STATE), _JUMP[self._state])
        is_unanswered = ~self._seen & (view.ports[:, Host.OP_SERVER0] < 0)
        state = np.where((state == EXPLOIT_SERVER_STATE) & is_unanswered, np.where(succeeded, 1, 0), state)
        state = np.where(self._begun, state, 0)
        if self._new_entry:
            is_back = self._begun & ~succeeded & (state == _ENTRY_STATE + 1)
            state = np.where(is_back, _ENTRY_STATE, state)
            self._user = np.where(is_back, -1, self._user)
        drawn = view.pick(np.broadcast_to(_ENTRIES, (view.num_envs, NUM_HOSTS)))
        self._user = np.where((state == _ENTRY_STATE) & (self._user < 0), drawn, self._user)
        self._seen |= state == EXPLOIT_SERVER_STATE
        self._state, self._begun = state, np.ones_like(self._begun)
        target = np.where(_TARGETS[state] == _ON_USER, self._user, _TARGETS[state])
        return _KINDS[state], np.where(_TARGETS[state] == _ON_REVEALED, _REVEALS[self._user], target)


class MeanderPlan(RedAgent):
    """Meander: everything that it knows, one kind of action after the other.

    Args:
        order: kinds of action, the most urgent first; the simulator's Meander sweeps and scans all it can before it
            escalates, and escalates before it exploits.
    """

    OWN_ORDER = (RedKind.SWEEP, RedKind.SCAN, RedKind.ESCALATE, RedKind.EXPLOIT)

    def __init__(self, order: tuple[int, ...] = OWN_ORDER) -> None:
        self._order = order
        self._make(0)

    def _make(self, num_envs: int) -> None:
        sizes = {kind: NUM_SUBNETS if kind == RedKind.SWEEP else NUM_HOSTS for kind in self.OWN_ORDER}
        self._done = {kind: np.zeros((num_envs, size), np.bool_) for kind, size in sizes.items()}
        self._mapped = np.zeros((num_envs, NUM_HOSTS), np.bool_)
        self._begun = np.zeros(num_envs, np.bool_)

    def reset(self, mask: Flags) -> None:
        """Forget what was tried."""
        if len(self._begun) != len(mask):
            self._make(len(mask))
        for flags in (*self._done.values(), self._mapped, self._begun):
            flags[mask] = False

    def act(self, view: RedView) -> Choice:
        """Take the first kind of action that has a target left, on one of its targets."""
        self._learn(view)
        self._begun[:] = True
        done = self._done
        waiting = view.known_host & ~done[RedKind.ESCALATE] & (~self._mapped | done[RedKind.EXPLOIT])
        unexploited = view.known_address & ~done[RedKind.EXPLOIT]
        left = {
            RedKind.SWEEP: view.known_subnet & ~done[RedKind.SWEEP],
            RedKind.SCAN: view.known_address & ~done[RedKind.SCAN],
            RedKind.ESCALATE: waiting,
            RedKind.EXPLOIT: unexploited & done[RedKind.SCAN],
        }
        kinds = np.full(view.num_envs, RedKind.SLEEP, np.int64)
        allowed = np.zeros((view.num_envs, NUM_HOSTS), np.bool_)
        for kind in reversed(self._order):
            is_left = left[kind].any(axis=1)
            kinds[is_left] = kind
            if kind != RedKind.SWEEP:
                allowed[is_left] = left[kind][is_left]
        targets = np.where(kinds == RedKind.SWEEP, left[RedKind.SWEEP].argmax(axis=1), view.pick(allowed))
        owns = done[RedKind.ESCALATE][:, Host.OP_SERVER0]
        return np.where(owns, RedKind.IMPACT, kinds), np.where(owns, Host.OP_SERVER0, targets)

    def _learn(self, view: RedView) -> None:
        """Read what became of the last action: a failed exploit makes Meander forget a whole subnet of its hosts."""
        done, rows = self._done, np.arange(view.num_envs)
        failed, target = view.last_success == Success.NO, view.last_target
        for kind, flags in done.items():
            here = rows[self._begun & (view.last_kind == kind)]
            flags[here, target[here]] = True
        exploited = self._begun & (view.last_kind == RedKind.EXPLOIT)
        hit = rows[exploited & (view.last_success == Success.YES)]
        self._mapped[hit, target[hit]] = True
        missed = rows[exploited & (view.last_success != Success.YES)]
        escalated = done[RedKind.ESCALATE][missed]
        lost = escalated & _OPERATIONAL
        lost = np.where(lost.any(axis=1, keepdims=True), lost, escalated & _ENTERPRISE)
        done[RedKind.ESCALATE][missed] &= ~lost
        done[RedKind.EXPLOIT][missed] &= ~lost
        done[RedKind.EXPLOIT][missed, target[missed]] = False
        is_owner = self._begun & ((view.last_kind == RedKind.ESCALATE) | (view.last_kind == RedKind.IMPACT))
        thrown = rows[is_owner & failed]
        done[RedKind.ESCALATE][thrown, target[thrown]] = False
        again = thrown[self._mapped[thrown, target[thrown]]]
        done[RedKind.EXPLOIT][again, target[again]] = False


class LatePlan(RedAgent):
    """Sleeps for some steps, then plays as another attacker does.

    Args:
        plan: the other attacker.
        steps: how long it sleeps.
    """

    def __init__(self, plan: RedAgent, steps: int) -> None:
        self._plan, self._steps = plan, steps

    def act(self, view: RedView) -> Choice:
        """Sleep, or ask the other one: all environments of a batch are at the same step."""
        asleep = view.t < self._steps
        self._plan.reset(view.t == self._steps)
        if asleep.all():
            return np.full(view.num_envs, RedKind.SLEEP), np.full(view.num_envs, -1)
        kinds, targets = (np.asarray(part) for part in self._plan.act(view))
        return np.where(asleep, RedKind.SLEEP, kinds), targets


EAGER = (RedKind.ESCALATE, RedKind.EXPLOIT, RedKind.SCAN, RedKind.SWEEP)
"""Meander the other way round: it takes what it can at once, and looks further when nothing is left."""

UNMET: dict[str, Callable[[], str | RedAgent]] = {
    "B_line, as in training": lambda: "bline",
    "Meander, as in training": lambda: "meander",
    "random": RandomPlan,
    "B_line, another entry after every failure": lambda: BLinePlan(new_entry=True),
    "Meander, exploits before it scans on": lambda: MeanderPlan(EAGER),
    "B_line, asleep for 5 steps": lambda: LatePlan(BLinePlan(), 5),
    "B_line, asleep for 10 steps": lambda: LatePlan(BLinePlan(), 10),
    "B_line, asleep for 20 steps": lambda: LatePlan(BLinePlan(), 20),
    "Meander, asleep for 5 steps": lambda: LatePlan(MeanderPlan(), 5),
    "Meander, asleep for 10 steps": lambda: LatePlan(MeanderPlan(), 10),
    "Meander, asleep for 20 steps": lambda: LatePlan(MeanderPlan(), 20),
}
"""What each attacker is, and how to make it; the first two are those that the defenders were trained against."""
