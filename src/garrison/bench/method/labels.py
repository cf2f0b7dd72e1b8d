"""What a row is: plain labels, such as `{"who": "garrison", "envs": 10000, "threads": 2}`.

Labels are a row's identity: JSON stores them and rows are found by them. A name is rendered from them last, for people;
nothing reads a name.
"""

from collections.abc import Callable
from typing import Any

from garrison.formatting import plural

Labels = dict[str, Any]

GARRISON = "garrison"
LOOP, LIMIT, BARRIER, PRODUCTS = "plain loop", "limit", "limit with a barrier", "matrix products"
ROOFLINE = "convolutions and products alone"
COPY = "memory copy"
REFERENCES = (LOOP, LIMIT, BARRIER, PRODUCTS, ROOFLINE, COPY)
"""Who is neither ours nor a peer: one bare loop, one on every core, arithmetic and copies that nobody can outrun."""


def _counted(noun: str) -> Callable[[int], str]:
    return lambda number: ", " + plural(number, noun)


_WRITTEN: dict[str, Callable[[Any], str]] = {
    "backend": " {}".format,
    "engine": " {}".format,
    "learner": " {}".format,
    "hidden": " {0}x{0}".format,
    "trunk": ", {} trunk".format,
    "compute": lambda how: ", plain torch" if how == "autograd" else f", {how}",
    "seed": ", seed {}".format,
    "minibatch": ", minibatches of {}".format,
    "true_states": ", true state {} times per step".format,
    "threads": lambda number: _counted("thread")(number) if number > 1 else "",
    "agents": _counted("agent"),
    "actors": lambda number: _counted("actor")(number) if number else ", in one process",
    "envs": _counted("environment"),
    "workers": _counted("worker"),
    "nodes": _counted("node"),
    "epochs": _counted("epoch"),
}
"""How a label is written, with what separates it from the label before; others are written as they are."""


def name_of(labels: Labels) -> str:
    """Return the name of a row.

    >>> name_of({"who": "garrison", "backend": "shared", "envs": 1000, "cost": "500 µs"})
    'garrison shared, 1,000 environments, 500 µs'
    """
    return "".join(_WRITTEN.get(key, ", {}".format)(value) for key, value in labels.items()).lstrip(", ")


def is_peer(labels: Labels) -> bool:
    """Return whether somebody else's code does the work."""
    return labels["who"] != GARRISON and labels["who"] not in REFERENCES
