"""The transport between processes of one machine: buffers and weights in shared memory, one-byte news over pipes.

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
from garrison.learn.actors.actor import Actor, Plan, Recipe, actor_seed
from garrison.learn.actors.supervisor import Supervisor
from garrison.learn.actors.transport import Buffer, Floats, Layout, Report, Trajectory
from garrison.learn.actors.weights import NOTHING, SharedWeights
from garrison.vector.buffers import Carver, Memory
from garrison.vector.worker import Lines
from garrison.workers import channel

FREE = b"F"  # to an actor: this buffer is yours
FULL = b"T"  # from an actor: this buffer holds a trajectory, and a pickled Report


@dataclass(frozen=True)
class _Task:
    recipe: Recipe
    steps: int
    actors: int
    buffers: int
    seed: int
    length: int
    """Bytes of the shared memory."""


class _Board:
    """What lies in the shared memory."""

    def __init__(self, layout: Layout, actors: int, buffers: int, carver: Carver) -> None:
        self.weights = SharedWeights(carver.take, len(layout.policy.flat))
        self.buffers = [[layout.carve(carver.take) for _ in range(buffers)] for _ in range(actors)]
        self.length = carver.offset


class Local:
    """Actors as processes of this machine; implements `Transport`."""

    is_exact = False

    def __init__(self, plan: Plan) -> None:
        self.actors = plan.actors
        length = _Board(plan.layout, plan.actors, plan.buffers, Carver(None)).length
        memory = Memory()
        self._board = _Board(plan.layout, plan.actors, plan.buffers, Carver(memory.map(length)))
        self._board.weights.clear()
        self._with_actor = [set(range(plan.buffers)) for _ in range(plan.actors)]
        self._has_weights = False
        task = _Task(plan.recipe, plan.layout.steps, plan.actors, plan.buffers, plan.seed, length)
        self._supervisor = Supervisor(_act, task, plan.actors, memory, plan.timeout, self._equip, "actor")

    @property
    def replaced(self) -> int:
        """How many actors have been replaced so far."""
        return self._supervisor.replaced

    @property
    def pids(self) -> list[int]:
        """The process ids of the actors."""
        return self._supervisor.pids

    def publish(self, weights: Floats, version: int) -> None:
        """Copy the weights to where actors look for them."""
        self._board.weights.write(weights, version)
        if not self._has_weights:
            self._has_weights = True
            for actor in range(self.actors):
                self._equip(actor)

    def receive(self, timeout: float) -> Trajectory | None:
        """Return the next trajectory, or None if none came within `timeout` seconds."""
        message = self._supervisor.receive(timeout)
        if message is None:
            return None
        actor, _, payload = message
        number, report = pickle.loads(payload)
        self._with_actor[actor].discard(number)
        self._supervisor.owes(actor, bool(self._with_actor[actor]))
        return Trajectory(self._board.buffers[actor][number], report, actor, token=number)

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
        self._supervisor.close()

    def _equip(self, actor: int) -> None:
        """Give a new actor all buffers that are not with the learner."""
        if self._has_weights:
            for number in self._with_actor[actor]:
                self._give(actor, number)

    def _give(self, actor: int, number: int) -> None:
        self._supervisor.owes(actor, True)
        self._supervisor.send(actor, FREE, number.to_bytes(2))


class _LocalDesk:
    """An actor's side; implements `Desk`."""

    def __init__(self, lines: Lines, weights: SharedWeights, buffers: list[Buffer]) -> None:
        self._lines, self._weights, self._buffers = lines, weights, buffers
        self._number, self._version = 0, NOTHING

    def borrow(self) -> Buffer | None:
        """Wait for a free buffer."""
        opcode, payload = channel.receive(self._lines.commands)
        if opcode == channel.EXIT:
            return None
        self._number = int.from_bytes(payload)
        return self._buffers[self._number]

    def refresh(self, weights: Floats) -> int:
        """Copy the newest weights, if there are newer ones."""
        self._version = self._weights.read(weights, self._version)
        return self._version

    def deliver(self, buffer: Buffer, report: Report) -> None:
        """Tell the learner which buffer is full."""
        channel.send(self._lines.replies, FULL, pickle.dumps((self._number, report)))


def _act(task: _Task, place: int, start: int, lines: Lines) -> None:
    """Be an actor process."""
    recipe = task.recipe
    actor = Actor(recipe, actor_seed(task.seed, start, recipe.num_envs))
    try:
        layout = Layout(actor.policy, task.steps, recipe.num_envs, recipe.action_masks)
        memory = lines.memory.map(task.length)
        board = _Board(layout, task.actors, task.buffers, Carver(memory))
        if board.length != task.length:
            raise UserError(f"the environments of actor {place} have other spaces than the learner's.")
        actor.run(_LocalDesk(lines, board.weights, board.buffers[place]))
    finally:
        actor.close()
