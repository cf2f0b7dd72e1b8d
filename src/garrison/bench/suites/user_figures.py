"""What our users measured before, where they wrote it down, and what of ours stands beside each figure."""

from dataclasses import dataclass

from garrison.bench.method.labels import GARRISON, Labels
from garrison.bench.suites.coinrun_speed import IN_A_BATCH, IN_SEQUENCE, IN_WORKERS

WORKFLOW = "cage2-workflow-search-rl"
CLUSTER = "rl-cluster-benchmark"
MACHINES = {
    WORKFLOW: "CybORG's CAGE-2 against B_line, on a Linux machine with a CUDA GPU, its cores not stated; October 2025",
    CLUSTER: "Procgen CoinRun (64x64 pixels, a convolutional network) on a machine not described; December 2025",
}
"""What each project's figures were measured on, as far as they say."""


@dataclass(frozen=True)
class UserFigure:
    """One figure of theirs (steps/s, a range, or the ratio of two), and the rows of ours that answer it."""

    table: str
    what: str
    theirs: tuple[float, float]
    source: str
    """Project, file and commit."""
    same_way: Labels | tuple[Labels, Labels] | None
    """Our row made the same way, in Python; a pair is the first over the second."""
    native: Labels | tuple[Labels, Labels] | None = None
    """Our row on the compiled batch."""
    note: str = ""

    @property
    def is_ratio(self) -> bool:
        """Whether it is the ratio of two rates."""
        return isinstance(self.same_way, tuple)


def way(name: str, num_envs: int, who: str = GARRISON) -> Labels:
    """Return the labels of a row that only steps environments, ours or CybORG's."""
    return {"who": who, "way": name, "envs": num_envs}


def ppo(backend: str, num_envs: int) -> Labels:
    """Return the labels of a row that trains on CAGE-2, 100 steps of each environment per update."""
    return {"who": GARRISON, "learner": "PPO", "backend": backend, "envs": num_envs}


def _at(figure: float) -> tuple[float, float]:
    return figure, figure


_RESULTS = f"{WORKFLOW}, OPTIMIZATION_RESULTS.md, 812aa6f"
_TIMING = f"{WORKFLOW}, TIMING_ANALYSIS_RESULTS.md, 09de083"
_SCALING = f"{WORKFLOW}, PARALLEL_PERFORMANCE_FIX.md, 98b369d"
_EXECUTOR = f"{WORKFLOW}, EXECUTOR_ASYNC_TEST_RESULTS.md, 98b369d"
_STATUS = f"{CLUSTER}, PARALLEL_STATUS.md, a5e0192"
_LARGER = "theirs learned from minibatches of 2,048, ours of 1,024 as in sequence"
_TWICE = "theirs also asked for the true state twice a step; ours always has it"

TWENTY, TWO_HUNDRED = "20 environments x 50 steps", "200 environments"
AGAINST, SCALING = "sequential against parallel", "1 to 100 environments"
TRAINER, CLUSTER_PPO = "their trainers on CAGE-2", "parallel against sequential PPO"

FIGURES: tuple[UserFigure, ...] = (
    UserFigure(TWENTY, "pipes", _at(3391), _RESULTS, way("pipes", 20), way("native", 20)),
    UserFigure(TWENTY, "shared memory", _at(2766), _RESULTS, way("shared memory", 20), way("native", 20)),
    UserFigure(TWENTY, "in one process", _at(434), _RESULTS, way("in-process batch", 20), way("native", 20)),
    UserFigure(TWO_HUNDRED, "pipes", _at(180), _RESULTS, way("pipes", 200), way("native", 200), _TWICE),
    UserFigure(TWO_HUNDRED, "shared memory", _at(3052), _RESULTS, way("shared memory", 200), way("native", 200)),
    UserFigure(TWO_HUNDRED, "in one process", _at(393), _RESULTS, way("in-process batch", 200), way("native", 200)),
    UserFigure(
        AGAINST,
        "sequential, 1 environment",
        _at(270),
        _TIMING,
        way("sequential", 1),
        way("native", 1),
        "theirs acted with a network as well: 29 % of the time",
    ),
    UserFigure(
        AGAINST, "parallel, 200 environments", _at(180), _TIMING, way("shared memory", 200), way("native", 200), _TWICE
    ),
    UserFigure(
        AGAINST,
        "parallel over sequential",
        _at(180 / 270),
        _TIMING,
        (way("shared memory", 200), way("sequential", 1)),
        (way("native", 200), way("native", 1)),
    ),
    UserFigure(SCALING, "1 environment", _at(173), _SCALING, way("shared memory", 1), way("native", 1)),
    UserFigure(SCALING, "25 environments", _at(25 * 90), _SCALING, way("shared memory", 25), way("native", 25)),
    UserFigure(SCALING, "100 environments", _at(100 * 36), _SCALING, way("shared memory", 100), way("native", 100)),
    UserFigure(
        SCALING,
        "100 environments over 1",
        _at(3600 / 173),
        _SCALING,
        (way("shared memory", 100), way("shared memory", 1)),
        (way("native", 100), way("native", 1)),
        "theirs used one process per environment, ours one worker per core",
    ),
    UserFigure(TRAINER, "sequential, 1 environment", _at(260), _EXECUTOR, ppo("serial", 1), ppo("native", 1)),
    UserFigure(
        TRAINER, "synchronous, 100 environments", _at(110), _EXECUTOR, ppo("shared", 100), ppo("native", 100), _TWICE
    ),
    UserFigure(TRAINER, "asynchronous, 10 workers", _at(1780), _EXECUTOR, None, ppo("native", 10)),
    UserFigure(TRAINER, "asynchronous, 25 workers", _at(4040), _EXECUTOR, None, ppo("native", 25)),
    UserFigure(TRAINER, "asynchronous, 50 workers", _at(4970), _EXECUTOR, None, ppo("native", 50)),
    UserFigure(TRAINER, "asynchronous, 100 workers", _at(7430), _EXECUTOR, ppo("shared", 100), ppo("native", 100)),
)
"""What they measured on CAGE-2."""

COINRUN_FIGURES: tuple[UserFigure, ...] = (
    UserFigure(CLUSTER_PPO, "32 environments in sequence", (1500, 2000), _STATUS, IN_SEQUENCE, IN_A_BATCH),
    UserFigure(CLUSTER_PPO, "4 workers x 8", (70, 80), _STATUS, IN_WORKERS, note=_LARGER),
    UserFigure(CLUSTER_PPO, "parallel over sequential", (70 / 2000, 80 / 1500), _STATUS, (IN_WORKERS, IN_SEQUENCE)),
)
"""What they measured on CoinRun: the same environment, network and settings as ours."""
