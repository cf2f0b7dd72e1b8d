"""`serial`: all environments in this process, one after the other; the reference that the others are tested against."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.vector.base import Batch, Card, Setup
from garrison.vector.buffers import Block
from garrison.vector.group import Entries
from garrison.vector.timing.group import section_kind


class Serial(Batch):
    """Steps every environment in the calling thread."""

    backend = "serial"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.workers = 1
        self.envs = make_all(setup)
        card = Card.of(self.envs[0], list(setup.extras))
        self._describe(card, Block(self._plan(card)))
        self._section = section_kind(setup.timing)(self.envs, 0, self._block, self._mode, setup.extras)

    def _reset(self, chosen: NDArray[np.intp], seeds: list[int | None], options: dict[str, Any] | None) -> Entries:
        return self._section.reset(chosen.tolist(), seeds, options)

    def _step(self) -> Entries:
        return self._section.step()

    def _call(self, chosen: Sequence[int], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return self._section.call(chosen, name, args, kwargs)

    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        self._section.assign(chosen, name, values)

    def close_extras(self, **_: Any) -> None:
        """Close the environments."""
        if hasattr(self, "_section"):  # Gymnasium 1.2 closes what could not be made, too
            self._section.close()


def make_all(setup: Setup) -> list[Any]:
    """Make every environment in this process and check that they are alike."""
    envs = [maker() for maker in setup.makers]
    first = Card.of(envs[0], list(setup.extras))
    for i, env in enumerate(envs[1:], start=1):
        first.check(Card.of(env, list(setup.extras)), i)
    return envs
