"""What the backends with workers share: starting them, resets, calls, deaths and the end."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.vector.base import BatchedEnvs, Setup
from garrison.vector.env_workers import EnvPool, EnvWorkers, ProcessEnvPool
from garrison.vector.group import Callee, Entries, Options, Seeds
from garrison.workers import channel
from garrison.workers.faults import EnvTimeout, WorkerDied


class WorkerEnvs(BatchedEnvs):
    """A vector environment whose environments live in workers: processes of this machine, unless said otherwise."""

    private = False
    """Whether workers keep their arrays to themselves (`pipes`) instead of sharing the buffers."""
    open_pool: Callable[[Setup], EnvPool] = ProcessEnvPool
    """What starts the workers."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._workers = EnvWorkers(setup, type(self).open_pool)
        self._finalizer = self._workers.close_with(self)
        info = self._workers.info
        buffers = self._workers.attach(self._plan(info), self.private)
        self._describe(info, buffers)
        self._groups = self._workers.groups
        self._worker_of = np.repeat(np.arange(self.workers), [len(r) for r in self._groups])
        self._seeds: list[int | None] = [None] * self.num_envs
        self._deaths = 0

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers, each on its own machine."""
        return self._workers.pool.pids

    def _reset(self, chosen: NDArray[np.intp], seeds: Seeds, options: Options) -> Entries:
        wanted = {i: (seed, its) for i, seed, its in zip(chosen.tolist(), seeds, options, strict=True)}
        for i, (seed, _) in wanted.items():
            self._seeds[i] = seed
        orders = {}
        for w, r in enumerate(self._groups):
            if mine := [i for i in r if i in wanted]:
                orders[w] = ([i - r.start for i in mine], [wanted[i][0] for i in mine], [wanted[i][1] for i in mine])
        return self._ask(orders, "reset")

    def _ask(self, orders: dict[int, tuple[Any, ...]], name: str) -> Entries:
        """Give orders to workers and gather their entries; a worker that dies is replaced and asked again."""
        workers = self._workers
        with ClosedByFault(self):
            workers.take_leftovers()
            for w, order in orders.items():
                workers.command(w, name, order)
            replies, dead = self._gather(set(orders))
            for w in dead:
                self._replace(w)
                if w in orders:
                    workers.command(w, name, orders[w])
                    replies[w] = workers.wait_for(w, f"in {name}, after its restart")
        return self._merged(replies)

    def _gather(self, wanted: set[int]) -> tuple[dict[int, Any], list[int]]:
        """Wait for the wanted workers; return what each said and which have died, and raise what one raised."""
        replies: dict[int, Any] = {}
        dead: list[int] = []
        failures = {}
        for w, opcode, payload in self._workers.collect(wanted):
            if opcode == channel.DIED:
                dead.append(w)
                if not self._setup.restart:
                    self._workers.raise_death(w)
            elif opcode == channel.FAILED:
                failures[w] = pickle.loads(payload)
            else:
                replies[w] = pickle.loads(payload) if payload else None
        if failures:
            for w in dead:
                self._replace(w)
            failures[min(failures)].raise_()
        return replies, dead

    def _merged(self, replies: dict[int, Any]) -> Entries:
        """Join the entries of all workers in the order of environments, which Gymnasium's merging depends on."""
        return [entry for w in sorted(replies) for entry in replies[w] or ()]

    def _replace(self, w: int) -> Entries:
        """Restart a dead worker; return the infos that report it, with what its new episodes begin with."""
        self._deaths += 1
        seeds: list[int | None] = []
        for i in self._groups[w]:
            seed = self._seeds[i]
            # Not the old seed: the episode that killed the worker should not simply come again.
            again = None if seed is None else int(np.random.SeedSequence([seed, self._deaths]).generate_state(1)[0])
            seeds.append(again)
        begun = dict(self._workers.replace(w, seeds))
        return [(i, {**begun.get(i, {}), "worker_restarted": True}) for i in self._groups[w]]

    def _call(self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        orders = [([i - r.start for i in chosen if i in r], what, args, kwargs) for r in self._groups]
        with ClosedByFault(self):
            answers = self._workers.command_all("call", orders)
        found: dict[int, Any] = {}
        for r, order, answer in zip(self._groups, orders, answers, strict=True):
            found.update(zip((i + r.start for i in order[0]), answer, strict=True))
        return [found[i] for i in chosen]

    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        given = dict(zip(chosen, values, strict=True))
        orders: list[tuple[Any, ...]] = []
        for r in self._groups:
            mine = [i for i in r if i in given]
            orders.append(([i - r.start for i in mine], name, [given[i] for i in mine]))
        with ClosedByFault(self):
            self._workers.command_all("assign", orders)

    def close_extras(self, **_: Any) -> None:
        """End the workers: they close their environments; one that does not within two seconds is killed."""
        if hasattr(self, "_finalizer"):
            self._finalizer()


class ClosedByFault:
    """Marks the vector environment closed when a fault inside has ended its workers; notes a Ctrl-C inside."""

    def __init__(self, envs: WorkerEnvs) -> None:
        self._envs = envs

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._envs._workers.was_interrupted = True
        elif isinstance(error, WorkerDied | EnvTimeout):
            self._envs.closed = True
            self._envs._why_closed = f" because {self._envs._workers.why_closed}"
