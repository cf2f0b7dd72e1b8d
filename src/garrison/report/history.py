"""A run as arrays, read from its folder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn import stages
from garrison.learn.registry import LEARNERS
from garrison.runs.folder import RunFolder
from garrison.runs.marks import RunMark, read_marks

Floats = NDArray[np.float64]

REWARD = "rollout/ep_reward_mean"
SPEED = "time/fps"
LEARNING = "train/"
"""What the names of the metrics of learning begin with: losses, entropy and so on."""
MAGNITUDES = 8.0  # times the best cost that the worst must exceed for a logarithmic axis


@dataclass(frozen=True)
class RunHistory:
    """The metrics and the summary of one run."""

    name: str
    path: Path
    rows: list[dict[str, float]] = field(repr=False)
    summary: dict[str, Any] = field(repr=False)
    settings: dict[str, Any] = field(default_factory=dict, repr=False)
    """Every setting by its name, such as `env.red`; those of the learner begin with `learner`, whichever it is."""
    marks: list[RunMark] = field(default_factory=list, repr=False)
    """When it began, was resumed and saved; runs of older versions have none."""
    counted: int | None = None
    """How many updates there are, if `rows` has only some of them."""
    problems: tuple[str, ...] = ()
    """What could not be read, a sentence each."""

    @classmethod
    def read(cls, path: Path) -> "RunHistory":
        """Read a run's folder; a run that is still going has no summary yet."""
        folder = RunFolder.open(path)
        rows = folder.read_metrics()
        if not rows:
            raise UserError(f"the run in {path} has no metrics yet: it has not finished its first update.")
        settings = flat_settings(folder.read_settings())
        return cls(path.resolve().name, path, rows, folder.read_summary(), settings, read_marks(path))

    @classmethod
    def glance(cls, path: Path, at_most: int) -> "RunHistory":
        """Read about so many rows of a run in whatever state it is; what is missing or damaged is left out and told."""
        folder, problems = RunFolder(path), []
        rows: list[dict[str, float]] = []
        counted = 0
        summary: dict[str, Any] = {}
        settings: dict[str, Any] = {}
        try:
            rows, counted = folder.sample_metrics(at_most)
        except UserError as error:
            problems.append(str(error))
        try:
            summary = folder.read_summary()
        except UserError as error:
            problems.append(str(error))
        try:
            settings = flat_settings(folder.read_settings()) if folder.config.exists() else {}
        except UserError as error:
            problems.append(str(error))
        name = path.resolve().name
        return cls(name, path, rows, summary, settings, read_marks(path), counted, tuple(problems))

    def series(self, name: str) -> tuple[Floats, Floats, Floats]:
        """Return steps, minutes and values of one metric, where it was written."""
        rows = [row for row in self.rows if name in row]
        keys = ("step", "time/elapsed_time", name)
        steps, seconds, values = (np.array([row[key] for row in rows], np.float64) for key in keys)
        return steps, seconds / 60.0, values

    def metrics(self, prefix: str) -> list[str]:
        """Return the names of the metrics that begin with `prefix`, in the order in which the run wrote them."""
        return list(dict.fromkeys(name for row in self.rows for name in row if name.startswith(prefix)))

    @property
    def stages(self) -> dict[str, float]:
        """The share of each stage of the time; an environment's `step` may be divided: `step_compute` and so on."""
        totals: dict[str, float] = {}
        for row in self.rows:
            for stage, seconds in stages.from_metrics(row).items():
                totals[stage] = totals.get(stage, 0.0) + seconds
        whole = sum(totals.values()) or 1.0
        return {stage: totals[stage] / whole for stage in stages.in_order(totals)}

    @property
    def updates(self) -> int:
        """Updates so far."""
        return len(self.series(SPEED)[0]) if self.counted is None else self.counted

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return int(self.rows[-1]["step"]) if self.rows else 0

    @property
    def seconds(self) -> float:
        """Wall time so far."""
        return float(self.rows[-1]["time/elapsed_time"]) if self.rows else 0.0

    @property
    def status(self) -> str:
        """How it ended, or that it did not yet."""
        return str(self.summary.get("status", "running or killed"))

    @property
    def total(self) -> tuple[float, float] | None:
        """The official total and its confidence, if it was evaluated."""
        evaluation = self.summary.get("evaluation") or {}
        return (evaluation["total"], evaluation["ci95"]) if evaluation.keys() >= {"total", "ci95"} else None


def flat_settings(sections: dict[str, Any]) -> dict[str, Any]:
    """Return sections of settings as one mapping.

    >>> flat_settings({"env": {"red": "bline"}, "ppo": {"policy": {"hidden": [8]}}})
    {'env.red': 'bline', 'learner': 'ppo', 'learner.policy.hidden': [8]}
    """
    found: dict[str, Any] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                add(f"{name}.{key}", item)
        else:
            found[name] = value

    for section, values in sections.items():
        if section in LEARNERS:
            found["learner"] = section
        add("learner" if section in LEARNERS else section, values)
    return found


def metric_title(name: str) -> str:
    """Return a metric's name as a chart's title.

    >>> metric_title("train/value_loss")
    'value loss'
    """
    return name.rpartition("/")[2].replace("_", " ")


def chart_title(name: str) -> str:
    """Return a metric's name as the heading of a chart on a page.

    >>> chart_title("train/approx_kl")
    'Approx KL'
    """
    return metric_title(name).capitalize().replace(" kl", " KL")


def told(text: str | None) -> str:
    """Return what a metric means as a sentence; nothing for none.

    >>> told("of the policy, in nats")
    'Of the policy, in nats.'
    """
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def spans_magnitudes(values: Floats) -> bool:
    """Return whether returns are costs so far apart that a linear axis would hide the good ones.

    >>> spans_magnitudes(np.array([-700.0, -40.0, -15.0])), spans_magnitudes(np.array([-20.0, -15.0, 3.0]))
    (True, False)
    """
    finite = values[np.isfinite(values)]
    return bool(len(finite) and finite.max() < 0 and finite.min() < MAGNITUDES * finite.max())


def smooth(values: Floats, window: int) -> Floats:
    """Return the mean of the `window` values around each place; fewer, but as many on both sides, near the ends.

    >>> smooth(np.array([1.0, 3.0, 8.0]), 3).tolist()
    [1.0, 4.0, 8.0]
    """
    places = np.arange(len(values))
    reach = np.minimum(np.minimum(places, places[::-1]), min(window // 2, len(values)))
    sums = np.cumsum(np.concatenate(([0.0], values)))
    result: Floats = (sums[places + reach + 1] - sums[places - reach]) / (2 * reach + 1)
    return result
