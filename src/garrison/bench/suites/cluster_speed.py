"""`garrison bench cluster`: IMPALA on Ray, node by node, beside IMPALA with processes; and what that means for more.

The nodes are raylets of one machine. Two kinds of rows keep that honest. *paced*: environments that sleep, so that an
actor's speed does not depend on the cores and the efficiency is the transport's own. *train*: the compiled CAGE-2 and a
learner, on whatever cores there are; the rows with processes do the same work without Ray.
"""

import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from time import perf_counter, sleep
from typing import Annotated, Any

import gymnasium
import numpy as np
import tyro

from garrison.bench.method.fresh import Configuration, Work
from garrison.bench.method.labels import GARRISON, Labels
from garrison.bench.method.measure import measure
from garrison.bench.method.measurement import BenchResult
from garrison.bench.method.partners import pair
from garrison.bench.method.terminal import print_table
from garrison.bench.publish.apart import print_apart
from garrison.bench.publish.cluster_tables import MEASURED, measured_rows, predicted_header, predicted_rows
from garrison.bench.publish.keep import keep
from garrison.bench.publish.stored import measured
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.cluster.scaling import Costs, predict, saturation

HERE = "garrison.bench.suites.cluster_speed"
STORE_BYTES = 100 * 2**20
PACE_SECONDS = 0.01
"""What a step of a paced batch takes."""
SIZES = (1, 10, 100, 1000)
RAY, PROCESSES = "Ray", "processes"


@dataclass(frozen=True)
class Arguments(MeasuringArguments):
    """Measure IMPALA on Ray: nodes, throughput, bytes, weights, and what limits it."""

    nodes: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N N ...")] = (1, 2, 4)
    """Numbers of nodes of the paced rows; the first must be 1."""
    actors: Annotated[tuple[int, ...], tyro.conf.arg(metavar="N N ...")] = (1, 2)
    """Numbers of actors of the training rows."""
    seconds: float = 4.0
    """How long each works after its warm-up."""


def run(arguments: Arguments) -> int:
    """Measure, print the tables and the prediction, and keep the result."""
    from garrison.cluster import connection as session

    session.load()
    rows = pair(configurations(arguments.nodes, arguments.actors), partners)
    rounds = arguments.rounds("cluster", quick=1)
    result = measure(rows, rounds, seconds=arguments.seconds, warm_up=1.0, timeout=300.0)
    result.print("IMPALA on Ray beside processes: environment steps/s, all on this one machine")
    models = costs_of(result, arguments.actors[0])
    predicted = {name: {"costs": asdict(each), "predictions": predictions(each)} for name, each in models.items()}
    record = result.record(models=predicted)
    print_apart("what the learner and the actors wait for", MEASURED, measured_rows(measured(record)), record)
    title = "more nodes, by the cost model: one learner, 10 Gbit/s"
    print_table(title, predicted_header(predicted), predicted_rows(predicted))
    for name, costs in models.items():
        most = predict(costs, SIZES[-1])
        print(f"{name}: another node brings nothing from {saturation(costs)} nodes on; then {most.advice}")
    keep(arguments.out, "cluster", record)
    return 0


class PacedBatch(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """CAGE-2's shapes, and a step that takes a known time without using a core."""

    def __init__(self, num_envs: int, seconds: float) -> None:
        self.num_envs, self._seconds = num_envs, seconds
        self.single_observation_space = gymnasium.spaces.Box(0, 1, (52,), np.int8)
        self.single_action_space = gymnasium.spaces.Discrete(145)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self._observations = np.zeros((num_envs, 52), np.int8)
        self._flags = np.zeros(num_envs, np.bool_)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin; there is nothing to begin."""
        return self._observations, {}

    def step(self, actions: Any) -> Any:
        """Take the time."""
        sleep(self._seconds)
        return self._observations, np.zeros(self.num_envs), self._flags, self._flags, {}


def envs_of(num_envs: int, pace: float) -> Any:
    """Make the environments of an actor: paced ones, or the compiled CAGE-2."""
    if pace:
        return PacedBatch(num_envs, pace)
    from garrison.cage2 import VectorEnv

    return VectorEnv(num_envs, red="meander", length=100, copy=False)


@contextmanager
def small_cluster(nodes: int, cpus: int) -> Iterator[None]:
    """Start this many raylets on the loopback and connect to them."""
    from garrison.cluster import connection as session

    ray = session.load()
    from ray.cluster_utils import Cluster

    with session.inward():
        node = {"num_cpus": cpus, "object_store_memory": STORE_BYTES}
        cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        try:
            for _ in range(nodes - 1):
                cluster.add_node(**node)
            session.connect(cluster.address)
            yield
        finally:
            ray.shutdown()
            cluster.shutdown()


@contextmanager
def impala(
    where: str, nodes: int, actors: int, envs: int, rollout: int, batch: int, pace: float = 0.0, compute: str = "auto"
) -> Iterator[Work]:
    """IMPALA one update per call; paced environments are collected from without learning."""
    from garrison.learn.actors.actor import ActorPlan, ActorSpec
    from garrison.learn.actors.local import Local
    from garrison.learn.actors.transport import Layout
    from garrison.learn.config import ImpalaConfig
    from garrison.learn.envs import policy_of
    from garrison.learn.impala import ImpalaLearner

    config = ImpalaConfig(steps=10**12, actors=actors, rollout=rollout, batch=batch, threads=1, compute=compute)
    make_envs = partial(envs_of, pace=pace)
    policy = policy_of(make_envs(1), config.policy)
    layout = Layout(policy, rollout, envs, False)
    plan = ActorPlan(
        ActorSpec(make_envs, envs, config.policy, False, compute), layout, actors, config.buffers, 120.0, 0
    )
    with ExitStack() as stack:
        if where == "ray":
            from garrison.cluster.ray_transport import Remote

            stack.enter_context(small_cluster(nodes, -(-actors // nodes)))
            transport: Any = Remote(plan)
        else:
            transport = Local(plan)
        stack.callback(transport.close)
        learner = ImpalaLearner(config, policy, layout, config.threads)
        stack.callback(learner.network.close)
        loop = TimedLoop(transport, learner, policy, steps=rollout * envs, batch=batch, learns=not pace)
        loop.warm_up(actors)
        yield Work(loop.advance, partial(loop.facts, on_ray=where == "ray"))


class TimedLoop:
    """The learner's loop of IMPALA, with the seconds of each of its parts; `steps` are those of one trajectory."""

    def __init__(self, transport: Any, learner: Any, policy: Any, *, steps: int, batch: int, learns: bool) -> None:
        self._transport, self._learner, self._policy = transport, learner, policy
        self._steps, self._batch, self._learns = steps, batch, learns
        names = ("wait", "handle", "learn", "publish", "fetch", "lag", "acting", "idle")
        self._times: dict[str, list[float]] = {name: [] for name in names}

    def warm_up(self, actors: int) -> None:
        """Publish the first weights, go on until every actor has begun, and forget the times until then."""
        self._transport.publish(self._policy.flat.numpy(), 0)
        while self._transport.actors < actors or len(self._times["acting"]) < 2 * actors:
            self.advance()
        for values in self._times.values():
            values.clear()

    def advance(self) -> int:
        """Gather a batch, learn from it and publish the weights; return how many steps that were."""
        from garrison.learn.stages import ASYNCHRONOUS
        from garrison.learn.stopwatch import Stopwatch

        learner, times = self._learner, self._times
        while not learner.gathered.is_full:
            self._take()
        began = perf_counter()
        if self._learns:
            learner.update(0.0, Stopwatch(ASYNCHRONOUS), dict)
        else:
            learner.updates += 1
        learned = perf_counter()
        learner.gathered.clear()
        self._transport.publish(self._policy.flat.numpy(), learner.updates)
        times["learn"].append(learned - began)
        times["publish"].append(perf_counter() - learned)
        return self._steps * self._batch

    def facts(self, on_ray: bool) -> dict[str, float]:
        """Return what the parts took, who waited, and on Ray what travelled.

        The learner pauses between two advances while others are on turn. An actor is stopped in the middle of whatever
        it does, and that counts as long as the pause: so of its times the medians are told.
        """
        times = self._times
        means = {name: statistics.fmean(values) for name, values in times.items()}
        total = sum(sum(times[name]) for name in ("wait", "handle", "learn", "publish"))
        idle, acting, fetch = (statistics.median(times[name]) for name in ("idle", "acting", "fetch"))
        found = {
            **{f"{name}_ms": 1e3 * means[name] for name in ("handle", "learn", "publish")},
            "fetch_ms": 1e3 * fetch,
            "lag": means["lag"],
            "learner_waits": sum(times["wait"]) / total,
            "actors_wait": idle / (idle + acting + fetch),
            "actor_rate": self._steps / acting,
            "weights_bytes": float(self._policy.flat.numel() * 4),
        }
        if on_ray:
            traffic = self._transport.traffic
            found["bytes_per_step"] = traffic.received / (traffic.trajectories * self._steps)
            found["board_ms"] = 1e3 * self._transport.directory_seconds()
        return found

    def _take(self) -> None:
        began = perf_counter()
        trajectory = None
        while trajectory is None:
            trajectory = self._transport.receive(1.0)
            for sentence in self._transport.check():
                raise RuntimeError(sentence)
        got = perf_counter()
        self._learner.gathered.add(trajectory)
        self._transport.release(trajectory)
        spent, times = trajectory.report.times, self._times
        times["wait"].append(got - began)
        times["handle"].append(perf_counter() - got)
        times["fetch"].append(spent.get("fetch", 0.0))
        times["lag"].append(self._learner.updates - trajectory.report.version)
        times["acting"].append(sum(spent.values()) - spent["wait"] - spent.get("fetch", 0.0))
        times["idle"].append(spent["wait"])


def paced_labels(nodes: int) -> Labels:
    """Return the labels of the paced row on this many Ray nodes."""
    return {"who": GARRISON, "work": "paced", "transport": RAY, "nodes": nodes}


def train_labels(transport: str, actors: int) -> Labels:
    """Return the labels of a training row."""
    return {"who": GARRISON, "work": "train", "transport": transport, "actors": actors}


def configurations(nodes: Sequence[int], actors: Sequence[int]) -> list[Configuration]:
    """Return what is measured."""
    paced = {"envs": 64, "rollout": 20, "batch": 1, "pace": PACE_SECONDS}
    work = {"envs": 256, "rollout": 100, "batch": 1}
    rows = []
    for n in nodes:
        rows.append((paced_labels(n), {"where": "ray", "nodes": n, "actors": n, **paced}))
    local = {"who": GARRISON, "work": "paced", "transport": PROCESSES, "actors": 1}
    rows.append((local, {"where": "local", "nodes": 1, "actors": 1, **paced}))
    for n in actors:
        rows.append((train_labels(RAY, n), {"where": "ray", "nodes": n, "actors": n, **work}))
        rows.append((train_labels(PROCESSES, n), {"where": "local", "nodes": 1, "actors": n, **work}))
    return [Configuration(labels, f"{HERE}:impala", given) for labels, given in rows]


def partners(labels: Labels) -> list[Labels]:
    """Return what a row can be compared with: one node if paced, else processes with as many actors."""
    return [paced_labels(1)] if labels["work"] == "paced" else [train_labels(PROCESSES, labels["actors"])]


def costs_of(result: BenchResult, actors: int) -> dict[str, Costs]:
    """Return the inputs of the cost model: of training on the compiled CAGE-2, and of the same on a slow simulator."""
    train, paced = result.find(**train_labels(RAY, actors)), result.find(**paced_labels(1))
    if not (train and paced and train.samples and paced.samples):
        return {}
    given = train.configuration.arguments
    steps = given["envs"] * given["rollout"]
    compiled = Costs(
        actor_rate=train.median("actor_rate"),
        steps_per_trajectory=steps,
        bytes_per_step=train.median("bytes_per_step"),
        fetch_seconds=train.median("fetch_ms") / 1e3,
        handle_seconds=train.median("handle_ms") / 1e3,
        learn_seconds=train.median("learn_ms") / 1e3 / (steps * given["batch"]),
        publish_seconds=train.median("publish_ms") / 1e3,
        board_seconds=train.median("board_ms") / 1e3,
        weights_bytes=int(train.median("weights_bytes")),
        trajectories_per_update=given["batch"],
    )
    return {"compiled": compiled, "paced": replace(compiled, actor_rate=paced.median("actor_rate"))}


def predictions(costs: Costs) -> list[dict[str, Any]]:
    """Return what other numbers of nodes would do, as plain values."""
    return [asdict(predict(costs, nodes)) for nodes in SIZES]
