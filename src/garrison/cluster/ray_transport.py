"""IMPALA's transport on Ray: actors anywhere in a cluster, trajectories and weights through the object store.

    learner                              cluster                                  actor (one CPU, any node)
      publish  -- one put per version --->  object store       <- once per node -----  refresh, when a trajectory begins
               -- where it lies --------->  weights directory  <- one small call ----
      receive  <- read in place ---------  object store       <- one copy -----------  act: one trajectory per call
      release  -- the next call ------------------------------------------------->

An actor has `buffers` calls under way and no more, so a slow learner makes it wait instead of filling the object store.
"""

import sys
import time
from dataclasses import dataclass
from typing import Any

from garrison.cluster import connection as session
from garrison.cluster.ray_actor import NOTHING, Filled, RayActor, WeightsDirectory, byte_count
from garrison.cluster.ray_pool import RayPool
from garrison.errors import UserError
from garrison.learn.actors.actor import ActorPlan, actor_seed
from garrison.learn.actors.transport import Floats, Trajectory
from garrison.workers.pickling import pack
from garrison.workers.supervisor import Supervisor
from garrison.workers.watchdog import STARTING_SECONDS, Watchdog

ROOM_SECONDS = 10.0
"""After this long without a place, an actor is reported to be waiting for one."""


@dataclass
class TransportTraffic:
    """What has gone through the object store, counted by the learner."""

    trajectories: int = 0
    received: int = 0
    """Bytes of trajectories."""
    versions: int = 0
    published: int = 0
    """Bytes of weights that were put; each node fetches them once."""
    publish_seconds: float = 0.0


class Remote:
    """Actors as Ray actors; implements `Transport`. Connect with `garrison.cluster.connect` first."""

    is_exact = False
    processes = 0

    def __init__(self, plan: ActorPlan) -> None:
        self._plan = plan
        self._bytes = byte_count(plan.layout.carve())
        spec = pack(plan.spec, "what makes the environments", "another machine")
        session.connect()
        self._ray = ray = session.load()
        here = ray.get_runtime_context().get_node_id()
        beside = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
        self._directory = ray.remote(num_cpus=0, scheduling_strategy=beside)(WeightsDirectory).remote()
        self._weights: Any = None
        self.traffic = TransportTraffic()
        self._waiting: set[int] = set()  # actors that were reported to be waiting for room
        self._closed = False

        def task_of(number: int, start: int) -> tuple[bytes, int, int, list[str]]:
            return spec, plan.layout.steps, actor_seed(plan.seed, start, plan.spec.num_envs), sys.path

        watchdog = Watchdog(plan.actors, plan.timeout, max(STARTING_SECONDS, plan.timeout))
        self._pool = RayPool(RayActor, plan.actors, task_of, watchdog, (self._directory,))
        # A node that is lost takes all its actors along, for the same reason.
        self._supervisor = Supervisor(self._pool, "actor", self._ask, spare=plan.actors)

    @property
    def actors(self) -> int:
        """How many actors have found a place and made their environments."""
        return self._plan.actors - len(self._pool.watchdog.starting)

    @property
    def replaced(self) -> int:
        """How many actors have been replaced so far."""
        return self._supervisor.replaced

    @property
    def nodes(self) -> list[str]:
        """The node of each actor, by Ray's id; empty for one that waits for room."""
        return self._pool.nodes

    @property
    def pids(self) -> list[int]:
        """The process id of each actor, on its node; 0 for one that waits for room."""
        return self._pool.pids

    def publish(self, weights: Floats, version: int) -> None:
        """Put the weights into the object store once, and tell the directory; actors come for them."""
        began = time.perf_counter()
        is_first = self._weights is None
        self._weights = self._ray.put(weights)
        self._directory.publish.remote(version, [self._weights])
        self.traffic.versions += 1
        self.traffic.published += weights.nbytes
        self.traffic.publish_seconds += time.perf_counter() - began
        if is_first:
            for actor in range(self._plan.actors):
                self._ask(actor)

    def receive(self, timeout: float) -> Trajectory | None:
        """Return the next trajectory, or None if none came within `timeout` seconds; replaces actors that died."""
        deadline = time.monotonic() + timeout
        while (message := self._supervisor.receive(max(0.0, deadline - time.monotonic()))) is not None:
            actor, _, found = message
            if isinstance(found, Filled):
                self.traffic.trajectories += 1
                self.traffic.received += self._bytes
                return Trajectory(found.buffer, found.report, actor, token=self._pool.generations[actor])
            if found != self._bytes:
                raise UserError(f"the environments of actor {actor} have other spaces than the learner's.")
        return None

    def release(self, trajectory: Trajectory) -> None:
        """Ask the actor for another trajectory, unless one that was asked for all when it began took its place."""
        if trajectory.token == self._pool.generations[trajectory.actor]:
            self._pool.call(trajectory.actor, "act")

    def check(self) -> list[str]:
        """Replace actors that are stuck; return what happened since the last call, a sentence each."""
        running = set(self._pool.running())
        for actor in range(self._plan.actors):
            if actor in running:
                if actor in self._waiting:
                    self._waiting.discard(actor)
                    self._supervisor.report(actor, "has found room and begins")
            elif actor not in self._waiting and self._pool.watchdog.silence(actor) > ROOM_SECONDS and self._is_full():
                self._waiting.add(actor)
                total, _ = self._pool.session.cpus()
                self._supervisor.report(actor, f"waits for room: all {total:g} CPUs of the cluster are taken")
        return self._supervisor.check()

    def directory_seconds(self, asks: int = 200) -> float:
        """Measure how long the weights directory takes to answer one actor, when many ask at once."""
        began = time.perf_counter()
        self._ray.get([self._directory.newest.remote(NOTHING) for _ in range(asks)])
        return (time.perf_counter() - began) / asks

    def state(self) -> dict[str, Any]:
        """Actors begin new episodes when a run is resumed."""
        return {"envs": None}

    def close(self) -> None:
        """End every actor. Safe to call twice, and after Ray has gone."""
        if self._closed:
            return
        self._closed = True
        self._pool.close(grace=0.0)
        if self._ray.is_initialized():
            self._ray.kill(self._directory)
        self._weights = None

    def _ask(self, actor: int) -> None:
        """Ask a new actor for as many trajectories as it may have under way."""
        if self._weights is not None:
            for _ in range(self._plan.buffers):
                self._pool.call(actor, "act")

    def _is_full(self) -> bool:
        return not self._pool.session.ours and self._pool.session.cpus()[1] < 1
