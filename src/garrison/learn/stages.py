"""The stages of a training loop: their names in the metrics, their order, labels and colours, in one place.

`time_split/learn` in `metrics.jsonl` is the stage `learn`. A backend that measures itself (`timing=True`) divides
`step` into the parts of `garrison.vector.timing.parts`: `step_compute`, `step_wait` and so on.
"""

from collections.abc import Iterable, Mapping

from garrison.vector.timing.parts import PARTS

PREFIX = "time_split/"
"""What the name of a stage begins with in the metrics."""

COLLECTING = ("act", "step", "copy")
LEARNING = ("advantages", "learn")
ACTOR = (*COLLECTING, "wait")
"""The stages of an actor process."""
SYNCHRONOUS = (*COLLECTING, *LEARNING, "log")
"""The stages of a learner that collects and learns in turn."""
ASYNCHRONOUS = (*ACTOR, *LEARNING, "publish", "log")
"""The stages of a learner whose actors collect meanwhile: all that there are, in the order of the loop."""
ON_DEVICE = ("device", "log")
"""The stages of a learner that collects and learns inside one compiled function."""

COLOURS = {
    "act": "dodger_blue1",
    "step": "green3",
    "step_compute": "green3",
    "step_reset": "sea_green2",
    "step_extras": "aquamarine3",
    "step_copy": "dark_sea_green2",
    "step_ipc": "yellow4",
    "step_wait": "khaki3",
    "copy": "steel_blue1",
    "wait": "grey66",
    "advantages": "orange3",
    "learn": "dark_orange3",
    "device": "rosy_brown",
    "publish": "orchid",
    "log": "grey42",
}
"""By the names that a terminal knows; `garrison.viewer.palette` says what they are in figures and on pages."""
OTHER_COLOUR = "grey66"

_ORDER = [name for stage in ("device", *ASYNCHRONOUS) for name in (stage, *(f"{stage}_{part}" for part in PARTS))]


def to_metrics(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of each stage under their names in the metrics.

    >>> to_metrics({"act": 0.5})
    {'time_split/act': 0.5}
    """
    return {PREFIX + stage: spent for stage, spent in seconds.items()}


def from_metrics(row: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of each stage in a row of metrics."""
    return {name[len(PREFIX) :]: spent for name, spent in row.items() if name.startswith(PREFIX)}


def total(row: Mapping[str, float], stages: Iterable[str]) -> float:
    """Return the seconds that these stages took in a row of metrics, the parts of a divided stage included.

    >>> total({"time_split/act": 1.0, "time_split/step_compute": 2.0, "time_split/learn": 4.0}, COLLECTING)
    3.0
    """
    return sum(spent for stage, spent in from_metrics(row).items() if stage.partition("_")[0] in stages)


def in_order(stages: Iterable[str]) -> list[str]:
    """Return stages in the order of the loop, those that are not known last.

    >>> in_order(["learn", "step_wait", "act", "step_compute"])
    ['act', 'step_compute', 'step_wait', 'learn']
    """
    return sorted(stages, key=lambda stage: _ORDER.index(stage) if stage in _ORDER else len(_ORDER))


def label(stage: str) -> str:
    """Return a stage as people read it.

    >>> label("step_compute")
    'step: compute'
    """
    return stage.replace("_", ": ", 1)


def colour(stage: str) -> str:
    """Return the name of a stage's colour."""
    return COLOURS.get(stage, OTHER_COLOUR)
