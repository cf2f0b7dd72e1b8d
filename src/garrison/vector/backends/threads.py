"""`threads`: sections stepped by threads of this process, for environments that release the GIL while they work."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.vector.backends.serial import make_all
from garrison.vector.base import Batch, Card, Setup
from garrison.vector.buffers import Block
from garrison.vector.group import Entries
from garrison.vector.timing.group import section_kind


class Threads(Batch):
    """Steps each section in its own thread; the caller's thread waits for all of them."""

    backend = "threads"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.envs = make_all(setup)
        card = Card.of(self.envs[0], list(setup.extras))
        self._describe(card, Block(self._plan(card)))
        self._ranges = setup.sections()
        kind = section_kind(setup.timing)
        self._sections = [
            kind(self.envs[r.start : r.stop], r.start, self._block.part(r.start, len(r), w), self._mode, setup.extras)
            for w, r in enumerate(self._ranges)
        ]
        self._pool = ThreadPoolExecutor(self.workers, "garrison-vector")

    def _reset(self, chosen: NDArray[np.intp], seeds: list[int | None], options: dict[str, Any] | None) -> Entries:
        wanted = dict(zip(chosen.tolist(), seeds, strict=True))
        tasks: list[Callable[[], Entries]] = []
        for section, r in zip(self._sections, self._ranges, strict=True):
            mine = [i for i in r if i in wanted]
            seeds = [wanted[i] for i in mine]
            locally = [i - r.start for i in mine]
            tasks.append(lambda s=section, i=locally, seeds=seeds: s.reset(i, seeds, options))  # type: ignore[misc]
        return self._together(tasks)

    def _step(self) -> Entries:
        return self._together([section.step for section in self._sections])

    def _together(self, tasks: Sequence[Callable[[], Entries]]) -> Entries:
        futures: list[Future[Entries]] = [self._pool.submit(task) for task in tasks]
        # Every section finishes before an error is raised, so that none still runs when the caller goes on.
        errors = [future.exception() for future in futures]
        for error in errors:
            if error is not None:
                raise error
        return [entry for future in futures for entry in future.result()]

    def _call(self, chosen: Sequence[int], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return [self._section_of(i, lambda s, k: s.call([k], name, args, kwargs)[0]) for i in chosen]

    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        for i, value in zip(chosen, values, strict=True):
            self._section_of(i, lambda s, k, value=value: s.assign([k], name, [value]))

    def _section_of(self, i: int, act: Callable[..., Any]) -> Any:
        w = next(w for w, r in enumerate(self._ranges) if i in r)
        return act(self._sections[w], i - self._ranges[w].start)

    def close_extras(self, **_: Any) -> None:
        """End the threads and close the environments."""
        if not hasattr(self, "_pool"):  # Gymnasium 1.2 closes what could not be made, too
            return
        self._pool.shutdown(wait=True, cancel_futures=True)
        for section in self._sections:
            section.close()
