"""What a batch keeps for its workflow: the ledgers, the two parts of the rewards, and the views that users read."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.compliance import judge_batch, open_batch, warm_up
from garrison.cage2.layout import LEDGER, STATE, TERMS
from garrison.cage2.step import Records, step_batch
from garrison.cage2.workflow import ORDER_BITS, Workflow, order_bits, order_table
from garrison.errors import UserError
from garrison.jit import records

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]


def _joined() -> np.dtype[np.void]:
    """Return a record of the state's fields and, behind them, the ledger's."""
    fields: dict[str, list[Any]] = {"names": [], "formats": [], "offsets": []}
    for base, part in ((0, STATE), (STATE.itemsize, LEDGER)):
        for name, (kind, offset, *_) in (part.fields or {}).items():
            if name != "unused":
                fields["names"].append(name)
                fields["formats"].append(kind)
                fields["offsets"].append(base + offset)
    record: np.dtype[np.void] = np.dtype({**fields, "itemsize": STATE.itemsize + LEDGER.itemsize})  # type: ignore[call-overload]
    return record


JOINED_STATE = _joined()
"""What `get_state` returns where there is a workflow"""


@dataclass(frozen=True, slots=True)
class Compliance:
    """How a batch follows its workflow: read-only arrays that follow the batch, free to read.

    The first axis is the environment. What belongs to the last episode is 0 until one has ended; `reset` forgets it.
    """

    settings: Workflow
    """What the batch was made with; its `orders` are those of the beginning"""
    orders: Ints
    """(n, 5) the order of the running episode, the most urgent unit first"""
    next_orders: Ints
    """(n, 5) the order from the next reset on"""
    env_rewards: Floats
    """(n,) the environment's part of the last step's reward"""
    alignment_rewards: Floats
    """(n,) the alignment's part"""
    fixes: Ints
    """(n,) fixes so far in this episode"""
    compliant: Ints
    """(n,) how many of these complied"""
    rates: Floats
    """(n,) compliant / fixes; 0.5 before the first fix"""
    alignment_returns: Floats
    """(n,) sum of the alignment rewards so far"""
    episodes: Ints
    """(n,) how many episodes have ended since `reset` was called"""
    last_env_return: Floats
    """(n,) of the episode that ended last: sum of the environment's rewards"""
    last_alignment_return: Floats
    """(n,) sum of its alignment rewards"""
    last_fixes: Ints
    """(n,) its fixes"""
    last_compliant: Ints
    """(n,) how many of these complied"""
    last_rate: Floats
    """(n,) its compliance; 0.5 if there was no fix"""


class Ledger:
    """The workflow of a batch at work."""

    def __init__(self, settings: Workflow, num_envs: int) -> None:
        self.settings = settings
        self.entries = np.zeros(num_envs, LEDGER)
        self.entries["next_order"] = order_table(settings.orders, num_envs)
        self.env_rewards = np.zeros(num_envs)
        self.alignments = np.zeros(num_envs)
        self._terms = np.zeros(1, TERMS)
        for name in ("weight", "step_bonus", "step_penalty", "no_fix_penalty"):
            self._terms[name] = getattr(settings, name)
        self._terms["by_history"] = settings.definition == "history"
        self._terms["count_foothold"] = settings.foothold == "count"
        self._attach()
        self.begin(np.ones(num_envs, np.bool_))

    def _attach(self) -> None:
        """Make what is derived from the arrays."""
        warm_up()
        self._records = records(self.entries), records(self._terms)
        self._is_changing = bool((self.entries["order"] != self.entries["next_order"]).any())
        fields = {name: self.entries[name] for name in LEDGER.names or () if name in Compliance.__slots__}
        arrays = {
            **fields,
            "orders": self.entries["order"],
            "next_orders": self.entries["next_order"],
            "rates": self.entries["rate"],
            "alignment_returns": self.entries["alignment_return"],
            "env_rewards": self.env_rewards,
            "alignment_rewards": self.alignments,
        }
        views = {name: array.view() for name, array in arrays.items()}
        for view in views.values():
            view.flags.writeable = False
        self.views = Compliance(settings=self.settings, **views)

    # --- the turn of a batch

    def begin(self, mask: NDArray[np.bool_]) -> None:
        """Begin the books of the environments of `mask` anew."""
        open_batch(self._records[0], mask)

    def step(self, *arguments: Any) -> int:
        """Judge what the environments are about to do, then let `step_batch` do it; the arguments are its own."""
        envs, scenario, _, actions, *_, start, stop, mode, _ = arguments
        judge_batch(envs, scenario, *self._records, actions, self.alignments, start, stop, mode)
        return int(step_batch(*arguments))

    def settle(self, envs: Records, ended: NDArray[np.bool_] | None, rewards: Floats) -> None:
        """Write the sum of both rewards; keep the environment's return of the episodes that ended, if any."""
        np.add(self.env_rewards, self.alignments, out=rewards)
        if ended is not None:
            self.entries["last_env_return"][ended] = envs["last_total"][ended]

    # --- orders

    def show(self, observations: NDArray[np.int8]) -> None:
        """Write every order into the last bits of its observation, where observations have them."""
        if self.settings.show_order:
            observations[:, -ORDER_BITS:] = order_bits(self.entries["order"])

    def show_changes(self, observations: NDArray[np.int8]) -> None:
        """Do so if an order may have changed since: bits stay where they are, so otherwise they are right."""
        if self._is_changing:
            self.show(observations)
            self._is_changing = bool((self.entries["order"] != self.entries["next_order"]).any())

    def set_orders(self, orders: Any, now: bool) -> None:
        """Take new orders, from the next episodes on or at once."""
        self.entries["next_order"] = order_table(orders, len(self.entries))
        if now:
            self.entries["order"] = self.entries["next_order"]
        self._is_changing = True

    # --- state, copies and reports

    def join(self, envs: NDArray[np.void], ids: NDArray[np.intp]) -> NDArray[np.void]:
        """Return state and ledger of some environments as one array of records."""
        both = np.concatenate([_bytes(envs[ids]), _bytes(self.entries[ids])], axis=1)
        return both.view(JOINED_STATE)[:, 0]

    def take(self, state: NDArray[np.void], ids: NDArray[np.intp]) -> NDArray[np.void]:
        """Put the ledgers of joined records into some environments and return the states without them."""
        both = _bytes(np.atleast_1d(state))
        self.entries[ids] = np.ascontiguousarray(both[:, STATE.itemsize :]).view(LEDGER)[:, 0]
        self._is_changing = True
        return np.ascontiguousarray(both[:, : STATE.itemsize]).view(STATE)[:, 0]

    def copy(self, ids: NDArray[np.intp]) -> "Ledger":
        """Return a ledger of some environments that shares nothing with this one."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("entries", "env_rewards", "alignments"):
            setattr(twin, name, getattr(self, name)[ids])
        twin._terms = self._terms.copy()
        twin._attach()
        return twin

    def infos(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the numbers of the episodes that just ended, in the form of Gymnasium's infos."""
        infos: dict[str, Any] = {}
        for name, field in _REPORTED.items():
            infos[name] = np.where(ended, self.entries[field], 0)
            infos[name] = infos[name].astype(np.int64 if infos[name].dtype.kind == "i" else np.float64)
            infos[f"_{name}"] = ended
        return infos

    def __getstate__(self) -> dict[str, Any]:
        derived = ("views", "_records", "_is_changing")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._attach()


_REPORTED = {
    "env_return": "last_env_return",
    "alignment_return": "last_alignment_return",
    "fixes": "last_fixes",
    "compliant": "last_compliant",
    "rate": "last_rate",
}


def _bytes(array: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return (n, size): the bytes of contiguous records."""
    contiguous = np.ascontiguousarray(array)
    return contiguous.view(np.uint8).reshape(len(contiguous), contiguous.dtype.itemsize)


def ledger_of(workflow: Any, num_envs: int) -> Ledger | None:
    """Return the ledger for a batch's `workflow` setting, None if there is none."""
    if workflow is None:
        return None
    if not isinstance(workflow, Workflow):
        raise UserError(f"workflow must be a garrison.cage2.workflow.Workflow or None; got {workflow!r}.")
    return Ledger(workflow, num_envs)
