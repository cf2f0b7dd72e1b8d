"""Whose weights a training starts from: the same order's, else those of the Kendall-nearest order that was trained."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent
from garrison.workflow.orders import ORDERS, kendall_matrix, name_of

ORDER_FILES = "orders"
BASE = "base"


@dataclass(frozen=True)
class Trained:
    """Weights, and the orders that they were trained on."""

    name: str
    orders: tuple[int, ...]
    weights: NDArray[np.float32] = field(repr=False)
    policy: dict[str, Any] = field(repr=False)
    """The network's description, see `garrison.learn.nn.description`."""
    iteration: int = -1
    """In a search: when it was trained."""

    @classmethod
    def of(cls, values: dict[str, Any], name: str) -> "Trained":
        """Take the weights out of a checkpoint's values."""
        orders = tuple(values["experiment"]["workflow"]["orders"])
        if not orders or max(orders) >= len(ORDERS):
            raise UserError(f"{name} was trained on orders that do not exist: {', '.join(map(str, orders)) or 'none'}.")
        return cls(
            name=name,
            orders=orders,
            weights=np.asarray(values["state"]["weights"], np.float32),
            policy=values["policy"],
            iteration=values["iteration"] if isinstance(values.get("iteration"), int) else -1,
        )

    def distance(self, orders: Sequence[int]) -> float:
        """Return the mean over `orders` of the Kendall distance to the nearest order of these."""
        return float(kendall_matrix()[np.ix_(list(orders), list(self.orders))].min(axis=1).mean())

    def to_text(self, orders: Sequence[int]) -> str:
        """Return where the weights are from."""
        what = f"{len(self.orders)} orders" if len(self.orders) > 1 else name_of(self.orders[0])
        if len(self.orders) == len(ORDERS):
            what = "all orders"
        return f"{self.name} ({what}, distance {self.distance(orders):.1f})"


def order_files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the networks of a search's trials, each with its order and the trial's number, the latest trial last."""
    found = {}
    for file in (folder / ORDER_FILES).glob("*.garrison"):
        order, _, trial = file.stem.partition("-")
        if order.isdigit() and trial.isdigit():
            found[file] = (int(order), int(trial))
    return dict(sorted(found.items(), key=lambda item: item[1][1]))


def trained_in(folder: Path) -> list[Trained]:
    """Return what was trained in a run's folder or a search's; runs of other kinds are left out."""
    files = [folder / checkpoint.NAME, folder / BASE / checkpoint.NAME, *order_files(folder)]
    found = []
    for file in files if folder.is_dir() else [folder]:
        if file.is_file() and file.suffix == ".garrison":
            values = checkpoint.load(file)
            experiment = values.get("experiment")
            if isinstance(experiment, dict) and "workflow" in experiment:
                require_agent(values, str(file))
                found.append(Trained.of(values, str(file)))
    return found


def nearest(orders: Sequence[int], known: Iterable[Trained], policy: dict[str, Any]) -> Trained | None:
    """Return the nearest of `known` whose network has the shape of `policy`.

    Of equally near ones the one of the fewest orders, and of these the latest: an order's own weights come before those
    of a network for all orders, which come before a neighbour's.
    """
    fitting = [trained for trained in known if _shape(trained.policy) == _shape(policy)]
    return min(
        fitting,
        key=lambda trained: (round(trained.distance(orders), 9), len(trained.orders), -trained.iteration),
        default=None,
    )


def _shape(policy: dict[str, Any]) -> tuple[Any, ...]:
    sizes = (np.shape(policy["observation_space"].get("low")), policy["action_space"].get("n"))
    return (*sizes, *sorted((name, str(value)) for name, value in policy["config"].items()))
