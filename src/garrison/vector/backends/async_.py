"""`async`: the buffers of `shared` without its barrier; the first `batch_size` environments that are ready come back.

    observations, infos = envs.reset(seed=0)
    envs.send(actions)                                   # for all, or send(actions, env_ids)
    while True:
        observations, rewards, terminations, truncations, infos, env_ids = envs.recv()
        envs.send(policy(observations), env_ids)         # only these; the others are still at work

Row k of everything that `recv` returns, infos included, belongs to environment `env_ids[k]`. `reset` and `step` work as
everywhere, while nothing is in flight.
"""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.contract.misuse import NothingPending, NotReset, Pending
from garrison.errors import UserError
from garrison.vector import messages, rows
from garrison.vector.backends.worker_envs import ClosedByFault, WorkerEnvs
from garrison.vector.base import Flags, Setup, merge
from garrison.vector.group import Callee, Entries, Options, Seeds
from garrison.workers import channel
from garrison.workers.faults import Failure

Ready = tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any], NDArray[np.int64]]


class AsyncEnvs(WorkerEnvs):
    """Steps environments on request and hands them back in the order in which they get ready."""

    backend = "async"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.batch_size = setup.batch_size
        self._starts = [r.start for r in self._groups]
        self._places = np.concatenate([np.arange(len(r), dtype=np.int32) for r in self._groups])  # within its group
        self._everyone_ids = np.arange(self.num_envs)
        self._sent = np.zeros(self.num_envs, np.bool_)  # and not yet received
        self._in_flight = np.zeros(self.num_envs, np.bool_)  # of these, still with a worker
        self._queued = [0] * self.workers  # environments in flight, by worker
        self._ready: list[int] = []
        self._said: dict[int, dict[str, Any]] = {}  # infos of ready environments
        self._lost: set[int] = set()  # idle environments of a restarted worker, whose end is still to be told

    def send(self, actions: Any, env_ids: NDArray[Any] | Sequence[int] | None = None) -> None:
        """Start a step of the given environments (all by default) and return at once."""
        self._must_be_ready()
        ids = self._everyone_ids if env_ids is None else np.asarray(env_ids, np.intp)
        self._check(ids)
        rows.assign(self._buffers.actions, self._everyone if env_ids is None else ids, actions)
        with ClosedByFault(self):
            self._start(ids)

    def recv(self, batch_size: int | None = None) -> Ready:
        """Wait for the first `batch_size` environments (or all in flight, if fewer) and return their step's results.

        `batch_size` is that of `make` by default. Returns (observations, rewards, terminations, truncations, infos,
        env_ids).
        """
        self._must_be_ready()
        if batch_size is not None and batch_size < 1:
            raise UserError(f"batch_size must be at least 1; got {batch_size}")
        if self._workers.was_interrupted:
            self._raise_what_is_lost()
        wanted = min(batch_size or self.batch_size, len(self._ready) + sum(self._queued))
        if not wanted:
            raise NothingPending("recv() has nothing to wait for: call send(actions, env_ids) first")
        with ClosedByFault(self):
            while len(self._ready) < wanted:
                self._take_in()
            ids, self._ready = self._ready[:wanted], self._ready[wanted:]
        said = self._said
        entries = [(k, said.pop(i)) for k, i in enumerate(ids) if i in said] if said else []
        chosen = np.array(ids, np.int64)
        self._sent[chosen] = False
        buffers = self._buffers
        terminations, truncations = buffers.terminations[chosen], buffers.truncations[chosen]
        if self._mode is AutoresetMode.DISABLED:
            self._ended[chosen] = terminations | truncations
        observations = rows.part_of(buffers.observations, chosen)
        if self._shows_objects:
            observations = self._own(observations)
        infos = merge(entries, wanted) if entries else {}
        return observations, buffers.rewards[chosen], terminations, truncations, infos, chosen

    @property
    def in_flight(self) -> NDArray[np.intp]:
        """The environments that were sent and not yet received."""
        return np.flatnonzero(self._sent)

    def _check(self, ids: NDArray[np.intp]) -> None:
        # Of so few numbers Python's own min, max and set are quicker than NumPy's.
        numbers = ids.tolist() if ids.ndim == 1 else []
        if not numbers or min(numbers) < 0 or max(numbers) >= self.num_envs:
            raise UserError(f"env_ids must be a list of numbers from 0 to {self.num_envs - 1}; got {ids}")
        if len(set(numbers)) != len(numbers):
            raise UserError(f"env_ids must be different from each other; got {ids}")
        busy = self._sent[ids]
        if b"\1" in busy.tobytes():
            raise Pending(f"environments {ids[busy].tolist()} were sent already; recv() them before the next send()")
        if self._mode is AutoresetMode.DISABLED:
            self._must_not_have_ended(ids)

    def _start(self, ids: NDArray[np.intp]) -> None:
        self._sent[ids] = True
        if self._lost:
            told = [i for i in ids.tolist() if i in self._lost]
            self._lost.difference_update(told)
            self._ready += told
            ids = np.array([i for i in ids.tolist() if i not in set(told)], np.intp)
        self._in_flight[ids] = True
        owners = self._worker_of[ids]
        places = self._places[ids]
        with ClosedByFault(self):  # a Ctrl-C here leaves environments in flight that no worker has been told of
            for w in range(self.workers):
                mine = places[owners == w].tobytes()
                if mine:
                    self._queued[w] += len(mine) // places.itemsize
                    self._workers.pool.send(w, messages.SOME, mine)

    def _take_in(self) -> None:
        """Wait until at least one worker reports something, and note it."""
        busy = {w for w in range(self.workers) if self._queued[w]}
        for w, opcode, payload in self._workers.collect_some(busy):
            if opcode == channel.DIED:
                self._worker_lost(w)
            elif opcode == channel.FAILED:
                self._forget(w)
                self._workers.discard_replies(w)
                pickle.loads(payload).raise_()
            else:
                self._note(w, opcode, payload)

    def _note(self, w: int, opcode: bytes, payload: bytes) -> None:
        if opcode == messages.READY_WITH:
            payload, entries = pickle.loads(payload)
            self._said.update(entries)
        ids = np.frombuffer(payload, np.int32) + self._starts[w]
        self._in_flight[ids] = False
        self._ready += ids.tolist()
        self._queued[w] -= len(ids)
        if not self._queued[w]:
            self._workers.pool.watchdog.finished(w)

    def _forget(self, w: int) -> None:
        """Drop what a worker had in flight: it raised, and has forgotten it as well."""
        r = self._groups[w]
        self._sent[r.start : r.stop] &= ~self._in_flight[r.start : r.stop]
        self._in_flight[r.start : r.stop] = False
        self._queued[w] = 0
        self._workers.pool.watchdog.finished(w)

    def _worker_lost(self, w: int) -> None:
        """Restart a worker: what it had in flight or unreceived is truncated now, the rest when it is sent next."""
        r = self._groups[w]
        flying = [i for i in r if self._in_flight[i]]
        self._forget(w)
        self._said.update(self._replace(w))
        self._sent[flying] = True
        self._ready += flying
        self._lost.update(set(r).difference(self._ready))

    def _raise_what_is_lost(self) -> None:
        failures = self._catch_up()
        lost = sorted(set(self.in_flight.tolist()).difference(self._ready))
        self._sent[lost] = False
        for failure in failures:
            failure.raise_()
        if lost:
            raise NotReset(f"the results of environments {lost} are lost to a Ctrl-C that came with them; call reset()")

    def _catch_up(self) -> list[Failure]:
        """After a Ctrl-C, let every worker finish, note what it says, and return what went wrong there."""
        failures = []
        with ClosedByFault(self):
            for w in self._workers.pool.running():
                for _, opcode, payload in self._workers.last_words(w):
                    if opcode in (messages.READY, messages.READY_WITH):
                        self._note(w, opcode, payload)
                    elif opcode == channel.FAILED:
                        failures.append(pickle.loads(payload))
                        self._forget(w)
                self._in_flight[self._groups[w]] = False
                self._queued[w] = 0
                self._workers.pool.watchdog.finished(w)
        self._workers.was_interrupted = False
        return failures

    def _reset(self, chosen: NDArray[np.intp], seeds: Seeds, options: Options) -> Entries:
        self._drain()
        self._lost.difference_update(chosen.tolist())
        return super()._reset(chosen, seeds, options)

    def _step(self) -> Entries:
        if len(self.in_flight):
            raise Pending(f"step() needs all environments; recv() the ones in flight first: {self.in_flight.tolist()}")
        self._start(self._everyone_ids)
        with ClosedByFault(self):
            while len(self._ready) < self.num_envs:
                self._take_in()
        self._ready.clear()
        self._sent[:] = False
        said, self._said = self._said, {}
        return sorted(said.items())

    def _call(self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        self._wait_for_all()
        return super()._call(chosen, what, args, kwargs)

    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        self._wait_for_all()
        super()._assign(chosen, name, values)

    def _wait_for_all(self) -> None:
        """Let workers finish what they have, keeping the results for recv: calls go between steps."""
        if self._workers.was_interrupted:
            self._raise_what_is_lost()
        with ClosedByFault(self):
            while self._in_flight.any():
                self._take_in()

    def _drain(self) -> None:
        if self._workers.was_interrupted:
            self._catch_up()
        self._wait_for_all()
        self._ready.clear()
        self._said.clear()
        self._sent[:] = False
