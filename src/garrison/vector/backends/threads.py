"""`threads`: groups stepped by threads of this process, for environments that release the GIL while they work."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.vector.backends.serial import make_all
from garrison.vector.base import BatchedEnvs, EnvInfo, Setup
from garrison.vector.buffers import Buffers
from garrison.vector.group import Callee, Entries, Options, Seeds
from garrison.vector.timing.timed_group import group_class


class ThreadedEnvs(BatchedEnvs):
    """Steps each group in its own thread; the caller's thread waits for all of them."""

    backend = "threads"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.envs = make_all(setup)
        info = EnvInfo.of(self.envs[0], list(setup.extras))
        self._describe(info, Buffers(self._plan(info)))
        self._ranges = setup.groups()
        kind = group_class(setup.timing)
        self._groups = [
            kind(self.envs[r.start : r.stop], r.start, self._buffers.part(r.start, len(r), w), self._mode, setup.extras)
            for w, r in enumerate(self._ranges)
        ]
        self._pool = ThreadPoolExecutor(self.workers, "garrison-vector")

    def _reset(self, chosen: NDArray[np.intp], seeds: Seeds, options: Options) -> Entries:
        wanted = {i: (seed, its) for i, seed, its in zip(chosen.tolist(), seeds, options, strict=True)}
        tasks: list[Callable[[], Entries]] = []
        for group, r in zip(self._groups, self._ranges, strict=True):
            mine = [i for i in r if i in wanted]
            each = [wanted[i][0] for i in mine], [wanted[i][1] for i in mine]
            tasks.append(partial(group.reset, [i - r.start for i in mine], *each))
        return self._together(tasks)

    def _step(self) -> Entries:
        return self._together([group.step for group in self._groups])

    def _together(self, tasks: Sequence[Callable[[], Entries]]) -> Entries:
        futures: list[Future[Entries]] = [self._pool.submit(task) for task in tasks]
        # Every group finishes before an error is raised, so that none still runs when the caller goes on.
        errors = [future.exception() for future in futures]
        for error in errors:
            if error is not None:
                raise error
        return [entry for future in futures for entry in future.result()]

    def _call(self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return [self._group_of(i, lambda s, k: s.call([k], what, args, kwargs)[0]) for i in chosen]

    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        for i, value in zip(chosen, values, strict=True):
            self._group_of(i, lambda s, k, value=value: s.assign([k], name, [value]))

    def _group_of(self, i: int, act: Callable[..., Any]) -> Any:
        w = next(w for w, r in enumerate(self._ranges) if i in r)
        return act(self._groups[w], i - self._ranges[w].start)

    def close_extras(self, **_: Any) -> None:
        """End the threads and close the environments."""
        if not hasattr(self, "_pool"):  # Gymnasium 1.2 closes what could not be made, too
            return
        self._pool.shutdown(wait=True, cancel_futures=True)
        for group in self._groups:
            group.close()
