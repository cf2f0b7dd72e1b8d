"""The caller's side of the Ray actors: the crew of the process backends, with calls in the place of pipes.

One call per worker and step carries its actions; the reply carries its rows, which are copied into the caller's block.
Ray puts replies above 100 KB into the object store, where they are read in place; smaller ones travel with the reply.
"""

import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrison.cluster import session
from garrison.cluster.host import Actor, Reply, Rows
from garrison.vector import rows
from garrison.vector.base import Setup
from garrison.vector.buffers import Block, Plan
from garrison.vector.group import POSITION_BITS
from garrison.vector.worker import Task
from garrison.workers import channel
from garrison.workers.faults import span
from garrison.workers.pool import DIED, GRACE_SECONDS, Crew, pickled

WATCH_SECONDS = 5.0
"""How long a silent actor may take to say where it is."""


@dataclass
class Traffic:
    """What has gone to the workers and come back, counted by the caller."""

    calls: int = 0
    sent: int = 0
    """Bytes of actions and commands."""
    received: int = 0
    """Bytes of rows and infos."""


class RayCrew(Crew):
    """All actors of one vector environment."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._session = session.connect()
        self._ray = session.load()
        ray = self._ray
        self._lost = (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError, ray.exceptions.WorkerCrashedError)
        # Ours is one machine and the number of workers the user's choice; a cluster counts what is taken.
        share = 0 if self._session.ours else 1
        options = {"num_cpus": share, "max_restarts": 0, "concurrency_groups": {"watch": 1}}
        self._class = ray.remote(**options, scheduling_strategy="SPREAD")(Actor)
        self.sections = setup.sections()
        self.traffic = Traffic()
        self.actors: list[Any] = []
        self._calls: dict[Any, tuple[int, int]] = {}  # reply to come -> worker, when it was asked (a count)
        self._asked = 0
        self._pending: set[int] = set()
        self._positions = [0] * setup.workers
        self._since = [0.0] * setup.workers
        self._next_look = 0.0
        self._making: set[int] = set()
        self._plan: tuple[Plan, bool] | None = None
        self._closed = False
        try:
            for number in range(setup.workers):
                self.actors.append(self._hire(number))
            self.card = self._introductions()
            self.pids: list[int] = self._ray.get([actor.pid.remote() for actor in self.actors])
        except BaseException:
            self.close(grace=0.0)
            raise

    def attach(self, plan: Plan, private: bool = False) -> Block:
        """Make the caller's block, and have every actor make its own."""
        self._plan = plan, private
        self.block = Block(plan)
        self.command_all("attach", [(plan, private)] * len(self.actors))
        return self.block

    def send(self, w: int, opcode: bytes, payload: bytes) -> None:
        """Call one worker: a step of the environments in `payload`, or a pickled command."""
        self._expect(w, time.monotonic())
        self.traffic.sent += len(payload)
        if opcode == channel.SOME:
            numbers = np.frombuffer(payload, np.int32) + self.sections[w].start
            actions = rows.part_of(self.block.actions, numbers)
            self.traffic.sent += weight(actions)
            self._note(w, self.actors[w].step.remote(payload, actions))
        else:
            self._note(w, self.actors[w].obey.remote(payload))

    def collect_some(self, waiting: set[int]) -> Iterator[tuple[int, bytes, bytes]]:
        """Wait until at least one worker replies or dies, or for a while; yield what there is."""
        yield from self._taken(list(self._calls))
        if self._setup.timeout is not None:
            self._look_for_stuck(waiting)

    def flush(self, w: int) -> None:
        """Throw away what a worker still replies to earlier calls."""
        while calls := self._calls_of(w):
            for _, opcode, _ in self._taken(calls):
                if opcode == DIED:
                    self.give_up(w, "after a failure")

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every actor: ask, wait a moment, kill. Safe to call twice, and after Ray has gone."""
        if self._closed:
            return
        self._closed = True
        self._calls.clear()
        if not self._ray.is_initialized():
            return
        if grace:
            farewell = pickle.dumps(("close", ()))
            asked = [actor.obey.remote(farewell) for actor in self.actors]
            self._ray.wait(asked, num_returns=len(asked), timeout=grace)
        for actor in self.actors:
            self._ray.kill(actor)

    def replace(self, w: int, seeds: list[int | None]) -> None:
        """Start a new actor in the place of a dead one, as with processes."""
        super().replace(w, seeds)
        self.pids[w] = self._ray.get(self.actors[w].pid.remote())

    def _hire(self, number: int) -> Any:
        r = self.sections[number]
        makers = pickled(self._setup.makers[r.start : r.stop], r)
        task = Task(number, makers, r.start, self._setup.autoreset_mode, self._setup.extras)
        actor = self._class.remote(task, sys.path)
        self._making.add(number)
        self._note(number, actor.open.remote())
        return actor

    def _restart(self, w: int) -> None:
        self._bury(w)
        self.actors[w] = self._hire(w)

    def _note(self, w: int, reply: Any) -> None:
        self._asked += 1
        self.traffic.calls += 1
        self._calls[reply] = w, self._asked

    def _calls_of(self, w: int) -> list[Any]:
        return [reply for reply, (owner, _) in self._calls.items() if owner == w]

    def _taken(self, calls: list[Any]) -> Iterator[tuple[int, bytes, bytes]]:
        """Wait for one of the calls and yield all that are answered, each worker's in the order of asking."""
        ray = self._ray
        patience = self._patience()
        ready, others = ray.wait(calls, num_returns=1, timeout=None if patience is None else patience / 1000)
        if ready and others:
            ready += ray.wait(others, num_returns=len(others), timeout=0)[0]
        dead = []
        for reply in sorted(ready, key=lambda reply: self._calls[reply][1]):
            w, _ = self._calls.pop(reply)
            self._since[w] = time.monotonic()
            try:
                yield w, *self._open(w, ray.get(reply))
            except self._lost:
                dead.append(w)
        for w in dict.fromkeys(dead):
            self._bury(w)
            yield w, DIED, b""

    def _open(self, w: int, reply: Reply) -> tuple[bytes, bytes]:
        opcode, payload, arrays = reply
        if opcode not in (channel.READY, channel.READY_WITH):
            self._pending.discard(w)
        self.traffic.received += len(payload)
        if arrays is not None:
            self.traffic.received += weight(arrays)
            self._store(w, opcode, payload, arrays)
        return opcode, payload

    def _store(self, w: int, opcode: bytes, payload: bytes, arrays: Rows) -> None:
        r = self.sections[w]
        if opcode in (channel.READY, channel.READY_WITH):
            numbers = pickle.loads(payload)[0] if opcode == channel.READY_WITH else payload
            chosen = np.frombuffer(numbers, np.int32).astype(np.intp) + r.start
        else:
            chosen = np.arange(r.start, r.stop, dtype=np.intp)
        consecutive = int(chosen[-1]) - int(chosen[0]) == len(chosen) - 1 and bool((np.diff(chosen) == 1).all())
        where = slice(int(chosen[0]), int(chosen[-1]) + 1) if consecutive else chosen
        observations, rewards, terminations, truncations, extras = arrays
        block = self.block
        rows.assign(block.observations, where, observations, "observations")
        block.rewards[where] = rewards
        block.terminations[where] = terminations
        block.truncations[where] = truncations
        for name, values in extras.items():
            block.extras[name][where] = values

    def _message(self, w: int, when: str) -> tuple[bytes, bytes]:
        while True:
            for _, opcode, payload in self._taken(self._calls_of(w)):
                if opcode == DIED:
                    self.give_up(w, when)
                return opcode, payload
            if self._setup.timeout is not None:
                self._look_for_stuck({w})

    def _position(self, w: int) -> int:
        """Ask where a silent worker is; one that cannot even say so stays where it was."""
        assert self._setup.timeout is not None
        if time.monotonic() - self._since[w] < self._setup.timeout / 4:
            return self._positions[w]
        with suppress(self._ray.exceptions.GetTimeoutError, *self._lost):
            asked = self.actors[w].where.options(concurrency_group="watch").remote()
            position: int = self._ray.get(asked, timeout=WATCH_SECONDS)
            return position
        return self._positions[w]

    def _blame(self, w: int, timeout: float) -> str:
        if w not in self._making:
            i = self._positions[w] & ((1 << POSITION_BITS) - 1)
            self.close(grace=0.0)
            hint = "the vector environment is closed. Raise timeout= if it is only slow."
            return f"environment {i} (worker {w}, a Ray actor) has not returned within {timeout:g} s; {hint}"
        total, free = self._session.cpus()
        self.close(grace=0.0)
        what = f"worker {w} has not made {span(self.sections[w])} within {timeout:g} s"
        return f"{what}; the cluster has {total:g} CPUs, {free:g} of them free, and every worker takes one"

    def _epitaph(self, w: int) -> str:
        return f"worker {w} (a Ray actor, {span(self.sections[w])}) was lost"

    def _bury(self, w: int) -> None:
        self._pending.discard(w)
        for reply in self._calls_of(w):
            del self._calls[reply]
        if self._ray.is_initialized():
            self._ray.kill(self.actors[w])  # it may be only out of reach


def weight(batch: Any) -> int:
    """Return the bytes of all arrays in a batch."""
    if isinstance(batch, dict):
        return sum(map(weight, batch.values()))
    if isinstance(batch, tuple):
        return sum(map(weight, batch))
    return int(batch.nbytes)
