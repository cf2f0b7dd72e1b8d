"""The transport between processes of one machine: buffers and weights in shared memory, short messages over pipes.

    learner                    shared memory                      actor k (own process, one thread)
      publish  ------------->  weights: two copies, versions  ->  refresh
      release  -- pipe ------------- number of a buffer ------->  borrow
      receive  <- pipe ------------- number, report ------------  deliver
                               buffers of actor k: rollouts   <-  fill

Each actor has buffers and pipes of its own. So nobody shares a queue or a lock with anybody, an actor that is killed
takes nothing along, and its buffers, whatever it did to them, are given to its replacement.
"""

import pickle
from dataclasses import dataclass
from typing import Any

from garrison.errors import UserError
from garrison.learn.actors.actor import Actor, ActorPlan, ActorSpec, actor_seed
from garrison.learn.actors.processes import start_actors
from garrison.learn.actors.transport import ActorReport, Buffer, Floats, Layout, Trajectory
from garrison.learn.actors.weights import NOTHING, SharedWeights
from garrison.workers import channel
from garrison.workers.launch import WorkerPipes
from garrison.workers.memory import Allocator, SharedMemory
from garrison.workers.supervisor import Supervisor

FREE = b"F"  # to an actor: this buffer is yours
FULL = b"T"  # from an actor: this buffer holds a trajectory, and a pickled ActorReport


@dataclass(frozen=True)
class _LocalActorTask:
    spec: ActorSpec
    steps: int
    actors: int
    buffers: int
    seed: int
    length: int
    """Bytes of the shared memory."""


class _SharedArrays:
    """What lies in the shared memory."""

    def __init__(self, layout: Layout, actors: int, buffers: int, allocator: Allocator) -> None:
        self.weights = SharedWeights(allocator.take, len(layout.policy.flat))
        self.buffers = [[layout.carve(allocator.take) for _ in range(buffers)] for _ in range(actors)]
        self.length = allocator.offset


class Local:
    """Actors as processes of this machine; implements `Transport`."""

    is_exact = False

    def __init__(self, plan: ActorPlan) -> None:
        self.actors = self.processes = plan.actors
        length = _SharedArrays(plan.layout, plan.actors, plan.buffers, Allocator(None)).length
        memory = SharedMemory()
        self._shared = _SharedArrays(plan.layout, plan.actors, plan.buffers, Allocator(memory.map(length)))
        self._shared.weights.clear()
        self._with_actor = [set(range(plan.buffers)) for _ in range(plan.actors)]
        self._has_weights = False
        task = _LocalActorTask(plan.spec, plan.layout.steps, plan.actors, plan.buffers, plan.seed, length)
        self._pool = start_actors(_act, task, plan.actors, memory, plan.timeout)
        self._supervisor = Supervisor(self._pool, "actor", self._give_buffers)

    @property
    def replaced(self) -> int:
        """How many actors have been replaced so far."""
        return self._supervisor.replaced

    @property
    def pids(self) -> list[int]:
        """The process ids of the actors."""
        return self._pool.pids

    def publish(self, weights: Floats, version: int) -> None:
        """Copy the weights to where actors look for them."""
        self._shared.weights.write(weights, version)
        if not self._has_weights:
            self._has_weights = True
            for actor in range(self.actors):
                self._give_buffers(actor)

    def receive(self, timeout: float) -> Trajectory | None:
        """Return the next trajectory, or None if none came within `timeout` seconds."""
        message = self._supervisor.receive(timeout)
        if message is None:
            return None
        actor, _, payload = message
        number, report = pickle.loads(payload)
        self._with_actor[actor].discard(number)
        if not self._with_actor[actor]:
            self._pool.watchdog.finished(actor)
        return Trajectory(self._shared.buffers[actor][number], report, actor, token=number)

    def release(self, trajectory: Trajectory) -> None:
        """Give the buffer back to the actor, or to the one that has taken its place."""
        self._with_actor[trajectory.actor].add(trajectory.token)
        self._give(trajectory.actor, trajectory.token)

    def check(self) -> list[str]:
        """Replace actors that are stuck; return what happened since the last call, a sentence each."""
        return self._supervisor.check()

    def state(self) -> dict[str, Any]:
        """Actors begin new episodes when a run is resumed."""
        return {"envs": None}

    def close(self) -> None:
        """End every actor."""
        self._pool.close()

    def _give_buffers(self, actor: int) -> None:
        """Give a new actor all buffers that are not with the learner."""
        if self._has_weights:
            for number in self._with_actor[actor]:
                self._give(actor, number)

    def _give(self, actor: int, number: int) -> None:
        self._pool.send(actor, FREE, number.to_bytes(2))


class _LocalPort:
    """An actor's side; implements `ActorPort`."""

    def __init__(self, pipes: WorkerPipes, weights: SharedWeights, buffers: list[Buffer]) -> None:
        self._pipes, self._weights, self._buffers = pipes, weights, buffers
        self._number, self._version = 0, NOTHING

    def borrow(self) -> Buffer | None:
        """Wait for a free buffer."""
        opcode, payload = channel.receive(self._pipes.commands)
        if opcode == channel.EXIT:
            return None
        self._number = int.from_bytes(payload)
        return self._buffers[self._number]

    def refresh(self, weights: Floats) -> int:
        """Copy the newest weights, if there are newer ones."""
        self._version = self._weights.read(weights, self._version)
        return self._version

    def deliver(self, buffer: Buffer, report: ActorReport) -> None:
        """Tell the learner which buffer is full."""
        channel.send(self._pipes.replies, FULL, pickle.dumps((self._number, report)))


def _act(task: _LocalActorTask, place: int, start: int, pipes: WorkerPipes) -> None:
    """Fill buffers until told to end; the target of an actor process."""
    spec = task.spec
    actor = Actor(spec, actor_seed(task.seed, start, spec.num_envs))
    try:
        layout = Layout(actor.policy, task.steps, spec.num_envs, spec.action_masks)
        memory = pipes.memory.map(task.length)
        shared = _SharedArrays(layout, task.actors, task.buffers, Allocator(memory))
        if shared.length != task.length:
            raise UserError(f"the environments of actor {place} have other spaces than the learner's.")
        actor.run(_LocalPort(pipes, shared.weights, shared.buffers[place]))
    finally:
        actor.close()
