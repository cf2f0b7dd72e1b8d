"""IMPALA's transport on Ray: actors anywhere in a cluster, trajectories and weights through the object store.

    learner                          cluster                              actor (one CPU, any node)
      publish  -- one put a version ->  object store <- once a node --------  refresh, when a trajectory begins
               -- where it lies ----->  board        <- one small call -----
      receive  <- read in place -----  object store <- one copy -----------  act: one trajectory a call
      release  -- the next call ------------------------------------------>

An actor has `buffers` calls under way and no more, so a slow learner makes it wait instead of filling the object store.
An actor without room waits in Ray's own queue and begins when a node joins or a place gets free.
"""

import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import cloudpickle

from garrison.cluster import session
from garrison.cluster.player import NOTHING, Board, Filled, Player, weight
from garrison.errors import UserError
from garrison.learn.actors.actor import Plan, actor_seed
from garrison.learn.actors.transport import Floats, Trajectory
from garrison.workers.faults import EnvFailed, Failure

STARTING_SECONDS = 120.0
"""How long an actor that has a place may take to import, compile and make its environments."""
ROOM_SECONDS = 10.0
"""After so long without a place, an actor is reported to be waiting for one."""
MANY, SHORT_SECONDS = 5, 60.0
"""So many replacements for the same reason within so many seconds, beyond one for each actor, and it does not help."""
PATIENCE_SECONDS = 0.05
"""How long to wait before looking again, when no actor has anything under way."""


@dataclass
class Traffic:
    """What has gone through the object store, counted by the learner."""

    trajectories: int = 0
    received: int = 0
    """Bytes of trajectories."""
    versions: int = 0
    published: int = 0
    """Bytes of weights that were put; each node fetches them once."""
    publish_seconds: float = 0.0


@dataclass(eq=False)
class Place:
    """One of the actors that were asked for, and who holds it now."""

    handle: Any
    since: float
    """When it was last heard of."""
    node: str = ""
    """Where it runs; empty while it waits for room."""
    pid: int = 0
    begun: bool = False
    """Whether its environments are made."""
    told: bool = False
    """Whether it was said that it waits for room."""
    owed: int = 0
    """How many trajectories it was asked for that have not come."""


class Remote:
    """Actors as Ray actors; implements `Transport`. Connect with `garrison.cluster.connect` first."""

    is_exact = False

    def __init__(self, plan: Plan) -> None:
        self._session = session.connect()
        self._ray = ray = session.load()
        errors = ray.exceptions
        self._lost = (errors.RayActorError, errors.ObjectLostError, errors.WorkerCrashedError)
        self._plan = plan
        self._recipe = _dump(plan)
        self._bytes = weight(plan.layout.carve())
        self.traffic = Traffic()
        self.replaced = 0
        self._starts = 0
        self._events: list[str] = []
        self._reasons: deque[tuple[float, str]] = deque()
        self._weights: Any = None
        self._closed = False
        # What is under way, oldest first: reference -> place and method. Ray gives the first of those that are ready:
        # trajectories are taken in the order in which they were asked for, and no actor's grow old behind others'.
        self._calls: dict[Any, tuple[Place, str]] = {}
        here = ray.get_runtime_context().get_node_id()
        beside = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
        self._board = ray.remote(num_cpus=0, scheduling_strategy=beside)(Board).remote()
        share = 0 if self._session.ours else 1  # on a Ray of our own the number of actors is the user's choice
        self._class = ray.remote(num_cpus=share, max_restarts=0, scheduling_strategy="SPREAD")(Player)
        self._places = [self._hire() for _ in range(plan.actors)]

    @property
    def actors(self) -> int:
        """How many actors have found a place and made their environments."""
        return sum(place.begun for place in self._places)

    @property
    def nodes(self) -> list[str]:
        """The node of each actor, by Ray's id; empty for one that waits for room."""
        return [place.node for place in self._places]

    @property
    def pids(self) -> list[int]:
        """The process id of each actor, on its node; 0 for one that waits for room."""
        return [place.pid for place in self._places]

    def publish(self, weights: Floats, version: int) -> None:
        """Put the weights into the object store once, and tell the board; actors come for them."""
        began = time.perf_counter()
        first = self._weights is None
        self._weights = self._ray.put(weights)
        self._board.hang.remote(version, [self._weights])
        self.traffic.versions += 1
        self.traffic.published += weights.nbytes
        self.traffic.publish_seconds += time.perf_counter() - began
        if first:
            for place in self._places:
                self._equip(place)

    def receive(self, timeout: float) -> Trajectory | None:
        """Return the next trajectory, or None if none came within `timeout` seconds; replaces actors that died."""
        deadline = time.monotonic() + timeout
        while True:
            left = max(0.0, deadline - time.monotonic())
            ready = self._ray.wait(list(self._calls), num_returns=1, timeout=left)[0] if self._calls else []
            if not self._calls:
                time.sleep(min(left, PATIENCE_SECONDS))
            if ready and (trajectory := self._take(ready[0])) is not None:
                return trajectory
            if not ready and left <= 0:
                return None

    def release(self, trajectory: Trajectory) -> None:
        """Ask the actor, or the one that has taken its place, for another trajectory."""
        place = self._places[trajectory.actor]
        if trajectory.token == id(place.handle):  # a new one got all its calls when it began
            self._call(place, "act")

    def check(self) -> list[str]:
        """Replace actors that are stuck; return what happened since the last call, a sentence each."""
        now = time.monotonic()
        for number, place in enumerate(self._places):
            silence = now - place.since
            if not place.node:
                if silence > ROOM_SECONDS and not place.told and not self._has_room():
                    place.told = True
                    self._say(number, f"waits for room: all {self._session.cpus()[0]:g} CPUs of the cluster are taken")
                continue
            allowed = self._plan.timeout if place.begun else max(STARTING_SECONDS, self._plan.timeout)
            if (place.owed or not place.begun) and silence > allowed and not self._answered(place):
                self._replace(number, f"has not been heard of for {allowed:g} s")
        events, self._events = self._events, []
        return events

    def board_seconds(self, asks: int = 200) -> float:
        """Measure how long the board takes to answer one actor, when many ask at once."""
        began = time.perf_counter()
        self._ray.get([self._board.newest.remote(NOTHING) for _ in range(asks)])
        return (time.perf_counter() - began) / asks

    def state(self) -> dict[str, Any]:
        """Actors begin new episodes when a run is resumed."""
        return {"envs": None}

    def close(self) -> None:
        """End every actor. Safe to call twice, and after Ray has gone."""
        if self._closed:
            return
        self._closed = True
        if self._ray.is_initialized():
            for place in self._places:
                self._ray.kill(place.handle)
            self._ray.kill(self._board)
        self._calls.clear()
        self._weights = None

    def _hire(self) -> Place:
        """Ask Ray for an actor; it begins wherever and whenever there is room."""
        plan = self._plan
        seed = actor_seed(plan.seed, self._starts, plan.recipe.num_envs)
        self._starts += 1
        place = Place(self._class.remote(self._board), time.monotonic())
        self._call(place, "hello")
        self._call(place, "open", self._recipe, plan.layout.steps, seed, sys.path)
        self._equip(place)
        return place

    def _equip(self, place: Place) -> None:
        if self._weights is not None:
            for _ in range(self._plan.buffers):
                self._call(place, "act")

    def _call(self, place: Place, method: str, *arguments: Any) -> None:
        if method == "act":
            if not place.owed:
                place.since = time.monotonic()  # it had nothing to do
            place.owed += 1
        self._calls[getattr(place.handle, method).remote(*arguments)] = place, method

    def _take(self, call: Any) -> Trajectory | None:
        """Read an answer: a trajectory is returned, anything else dealt with."""
        place, method = self._calls.pop(call)
        number = self._places.index(place)
        place.owed -= method == "act"
        place.since = time.monotonic()
        try:
            answer = self._ray.get(call)
        except self._lost as error:
            self._replace(number, _manner(error))
            return None
        if isinstance(answer, Failure):
            if answer.is_input:
                answer.raise_()
            self._replace(number, answer.summary.replace("a worker raised", "raised"), answer.details)
        elif isinstance(answer, Filled):
            self.traffic.trajectories += 1
            self.traffic.received += self._bytes
            return Trajectory(answer.buffer, answer.report, number, token=id(place.handle))
        elif method == "hello":
            place.node, place.pid = answer
            if place.told:
                self._say(number, "has found room and begins")
        elif answer != self._bytes:
            raise UserError(f"the environments of actor {number} have other spaces than the learner's.")
        else:
            place.begun = True
        return None

    def _has_room(self) -> bool:
        return self._session.ours or self._session.cpus()[1] >= 1

    def _answered(self, place: Place) -> bool:
        """Say whether an answer lies unread: then the silence is ours."""
        mine = [call for call, (owner, _) in self._calls.items() if owner is place]
        return bool(self._ray.wait(mine, num_returns=1, timeout=0)[0])

    def _replace(self, number: int, complaint: str, details: str = "") -> None:
        """Ask for another actor in the place of one that died or about which there is a complaint."""
        place = self._places[number]
        self._ray.kill(place.handle)  # it may be only out of reach
        self._calls = {call: entry for call, entry in self._calls.items() if entry[0] is not place}
        now = time.monotonic()
        self._reasons.append((now, complaint))
        while now - self._reasons[0][0] > SHORT_SECONDS:
            self._reasons.popleft()
        if sum(reason == complaint for _, reason in self._reasons) >= MANY + self._plan.actors:
            what = f"actors come to the same end again and again; the last: actor {number}: {complaint}"
            raise EnvFailed(None, what, details)
        self._say(number, f"{complaint}; another one takes its place")
        self._places[number] = self._hire()
        self._places[number].told = place.told and not place.node  # still waiting, by another name
        self.replaced += 1

    def _say(self, number: int, what: str) -> None:
        place = self._places[number]
        where = f" (process {place.pid}, node {place.node[:8]})" if place.node else ""
        self._events.append(f"actor {number}{where}: {what}")


def _manner(error: Exception) -> str:
    """Say in a few words how an actor was lost."""
    if "node has died" in str(error):
        return "was lost with its node"
    return "its trajectory was lost" if type(error).__name__.startswith("Object") else "died"


def _dump(plan: Plan) -> bytes:
    try:
        dumped: bytes = cloudpickle.dumps(plan.recipe)
        return dumped
    except Exception as error:
        raise UserError(
            f"what makes the environments cannot be sent to another machine: {error}. Build what it needs inside it."
        ) from error
