"""`serial`: all environments in this process, one after the other; the reference that the others are tested against."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.vector.base import BatchedEnvs, EnvInfo, Setup, check_distinct
from garrison.vector.buffers import Buffers
from garrison.vector.group import Callee, Entries, Options, Seeds
from garrison.vector.timing.timed_group import group_class


class SerialEnvs(BatchedEnvs):
    """Steps every environment in the calling thread."""

    backend = "serial"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.workers = 1
        self.envs = make_all(setup)
        info = EnvInfo.of(self.envs[0], list(setup.extras))
        self._describe(info, Buffers(self._plan(info)))
        self._group = group_class(setup.timing)(self.envs, 0, self._buffers, self._mode, setup.extras)

    def _reset(self, chosen: NDArray[np.intp], seeds: Seeds, options: Options) -> Entries:
        return self._group.reset(chosen.tolist(), seeds, options)

    def _step(self) -> Entries:
        return self._group.step()

    def _call(self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return self._group.call(chosen, what, args, kwargs)

    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        self._group.assign(chosen, name, values)

    def close_extras(self, **_: Any) -> None:
        """Close the environments."""
        if hasattr(self, "_group"):  # Gymnasium 1.2 closes what could not be made, too
            self._group.close()


def make_all(setup: Setup) -> list[Any]:
    """Make every environment in this process and check that they are alike."""
    envs = [maker() for maker in setup.makers]
    check_distinct(envs)
    first = EnvInfo.of(envs[0], list(setup.extras))
    for i, env in enumerate(envs[1:], start=1):
        first.check(EnvInfo.of(env, list(setup.extras)), i)
    return envs
