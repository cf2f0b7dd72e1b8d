"""`garrison bench train`: steps per second with acting, stepping and learning, beside every installed peer."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import tyro

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import GARRISON, PRODUCTS, Labels
from garrison.bench.method.measure import measure
from garrison.bench.method.partners import pair
from garrison.bench.publish.keep import keep
from garrison.bench.suites import async_training
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.bench.synthetic import rounds_per_second
from garrison.system import require

OURS, PEERS = "garrison.bench.suites.our_trainers", "garrison.bench.suites.peer_trainers"
JAX = "garrison.bench.suites.jax_workloads"
EPOCHS = 4
HIDDEN = (64, 256)
LARGE = {"num_envs": 1024, "rollout": 100, "minibatches": 8, "epochs": EPOCHS}  # what our presets do
SMALL = {"num_envs": 64, "rollout": 64, "minibatches": 8, "epochs": EPOCHS}  # what peers do by default
STEP_SECONDS = 0.001  # of the Python environment, on a quiet core
SEEDS = 4  # agents that are trained at once
IN_JAX: Labels = {"who": GARRISON, "engine": "jax"}
COMPILED: Labels = {"who": GARRISON, "engine": "numba"}
PUREJAXRL: Labels = {"who": "PureJaxRL-style"}
IN_SEQUENCE: Labels = {"who": GARRISON, "learner": "PPO", "backend": "serial", "envs": 32, "cost": "1 ms"}
IN_WORKERS: Labels = {"who": GARRISON, "learner": "PPO", "backend": "shared", "envs": 32, "workers": 4, "cost": "1 ms"}


@dataclass(frozen=True)
class Peer:
    """Somebody else's trainer that runs on the native batch's game."""

    who: str
    workload: str
    needs: tuple[str, ...] = ()
    """The modules that it needs beside ours."""
    given: dict[str, Any] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """Return which of those are not installed."""
        return [module for module in self.needs if importlib.util.find_spec(module) is None]


NATIVE_PEERS = (
    Peer("CleanRL-style", f"{PEERS}:cleanrl_style"),
    Peer("Stable-Baselines3", f"{PEERS}:sb3", ("stable_baselines3",)),
    Peer("SBX", f"{PEERS}:sb3", ("sbx",), {"jax": True}),
    Peer("PureJaxRL-style", f"{JAX}:purejaxrl_style", ("jax", "optax")),
)
"""Who is measured beside us, if what it needs is installed; a quick look is at the first."""


@dataclass(frozen=True)
class Arguments(MeasuringArguments):
    """Measure training on native CAGE-2 (four epochs), and on Python environments of about 1 ms per step."""

    seconds: float = 3.0
    """How long each process is measured."""
    part: Literal["all", "ppo", "async", "jax"] = "all"
    """What to measure: PPO beside its peers, learners without a barrier beside theirs, PPO in JAX beside another loop
    in JAX; or all of these for which what they need is installed."""
    hidden: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N N ...")] = HIDDEN
    """Units of the two hidden layers with which PPO is measured on large batches; each number is measured."""
    rllib_python: str = ""
    """An interpreter that has RLlib, which cannot be installed beside us: adds its IMPALA."""
    sample_factory_python: str = ""
    """An interpreter that has Sample Factory, which cannot be installed beside us: adds its APPO."""


def run(arguments: Arguments) -> int:
    """Measure, print the tables and keep the results."""
    quick = arguments.quick
    seconds = 0.5 if quick else arguments.seconds
    if arguments.part == "async" or (arguments.part == "all" and not quick):  # a quick look is at PPO alone
        peers = {"rllib": arguments.rllib_python, "sample_factory": arguments.sample_factory_python}
        rows = pair(async_training.configurations(quick, peers), async_training.partners)
        rounds = arguments.rounds("train-async", quick=1)
        result = measure(rows, rounds, seconds=seconds, warm_up=0.3 if quick else 2.0)
        result.print("learners without a barrier: environment steps/s, acting, stepping and learning")
        keep(arguments.out, "train-async", result.record())
    if arguments.part in ("all", "ppo"):
        for peer in NATIVE_PEERS:
            if missing := peer.missing():
                print(f"{peer.who} is left out: {' and '.join(missing)} cannot be imported.")
        rows = pair(configurations(quick, arguments.hidden), partners)
        result = measure(rows, arguments.rounds("train", quick=1), seconds=seconds, warm_up=0.3 if quick else 1.0)
        result.print("training: environment steps/s, acting, stepping and learning, four epochs")
        keep(arguments.out, "train", result.record())
    has_jax = importlib.util.find_spec("jax") is not None and importlib.util.find_spec("optax") is not None
    if arguments.part == "jax" or (arguments.part == "all" and not quick and has_jax):
        require("jax", "optax")
        rows = pair(in_jax(quick), lambda labels: [PUREJAXRL | {"minibatch": labels["minibatch"]}])
        result = measure(rows, arguments.rounds("train-jax", quick=1), seconds=seconds, warm_up=0.3 if quick else 1.0)
        result.print("training in JAX: environment steps/s, acting, stepping and learning, four epochs")
        keep(arguments.out, "train-jax", result.record())
    return 0


def configurations(quick: bool, hidden: tuple[int, ...] = HIDDEN) -> list[Configuration]:
    """Return what is measured, group by group."""
    return [*native(quick, hidden), *(row for group in GROUPS for row in group(quick))]


def native(quick: bool, every_hidden: tuple[int, ...] = HIDDEN) -> list[Configuration]:
    """Return our trainer, what bounds it and the importable peers, on the native batch."""
    peers = [peer for peer in NATIVE_PEERS if not peer.missing()]
    rows = []
    for hidden in () if quick else every_hidden:
        large = {"job": LARGE, "hidden": hidden}
        for more in ({}, {"trunk": "shared"}, {"compute": "autograd"}):
            rows.append(Configuration({"who": GARRISON, "hidden": hidden} | more, f"{OURS}:ppo", large | more))
        for peer in peers:
            rows.append(Configuration({"who": peer.who, "hidden": hidden}, peer.workload, large | peer.given))
        for more in ({}, {"trunk": "shared"}):
            given = {"hidden": hidden, "epochs": EPOCHS} | more
            rows.append(Configuration({"who": PRODUCTS, "hidden": hidden} | more, f"{OURS}:products", given))
    small = {"job": SMALL, "hidden": 64}
    job = {"hidden": 64, "minibatch": SMALL["num_envs"] * SMALL["rollout"] // SMALL["minibatches"]}
    rows.append(Configuration({"who": GARRISON} | job, f"{OURS}:ppo", small))
    for peer in peers[:1] if quick else peers:
        rows.append(Configuration({"who": peer.who} | job, peer.workload, small | peer.given))
    return rows


def in_jax(quick: bool) -> list[Configuration]:
    """Return PPO on the device, the compiled one and a loop in PureJaxRL's manner, on the same jobs."""
    rows = []
    for job in (SMALL,) if quick else (SMALL, LARGE):
        given = {"job": job, "hidden": 64}
        labels = {"minibatch": job["num_envs"] * job["rollout"] // job["minibatches"]}
        rows += [
            Configuration(IN_JAX | labels, f"{JAX}:ppo_on_device", given),
            Configuration(COMPILED | labels, f"{OURS}:ppo", given),
            Configuration(PUREJAXRL | labels, f"{JAX}:purejaxrl_style", given),
        ]
    if not quick:
        small = {"minibatch": SMALL["num_envs"] * SMALL["rollout"] // SMALL["minibatches"]}
        given = {"job": SMALL, "hidden": 64, "seeds": SEEDS}
        rows.append(Configuration(IN_JAX | small | {"agents": SEEDS}, f"{JAX}:ppo_on_device", given))
    return rows


def parallel(quick: bool) -> list[Configuration]:
    """Return PPO on 32 Python environments of 1 ms, in sequence and in 4 workers; not in a quick look."""
    if quick:
        return []
    job = {"num_envs": 32, "rollout": 32, "minibatches": 4, "epochs": EPOCHS}
    given = {"job": job, "hidden": 64, "options": {"rounds": int(STEP_SECONDS * rounds_per_second())}}
    return [
        Configuration(IN_SEQUENCE, f"{OURS}:ppo", given | {"backend": "serial"}),
        Configuration(IN_WORKERS, f"{OURS}:ppo", given | {"backend": "shared", "workers": 4}),
    ]


GROUPS: list[Callable[[bool], list[Configuration]]] = [parallel]
"""What gives further rows; to measure more, add a function of `quick` here."""


def partners(labels: Labels) -> list[Labels]:
    """Return what a row can be compared with: workers with one process, all else with a peer on the same job."""
    if "backend" in labels:
        return [IN_SEQUENCE]
    job = {key: value for key, value in labels.items() if key in ("hidden", "minibatch")}
    return [{"who": who} | job for who in ("Stable-Baselines3", "CleanRL-style")]
