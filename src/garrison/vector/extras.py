"""Extras: named arrays that an environment publishes beside its observation, such as the true state of its world.

An environment publishes them as an attribute `extras`: a mapping from name to an array that it keeps up to date in
place, or to a function that returns one
(then nothing is computed unless it is due). Shapes and types are fixed from construction on. Environments with
an attribute `truth` that holds arrays, such as CAGE-2's, publish those (less a first axis of one) as they are.

The caller asks for names and says how often each is wanted; they arrive in `envs.extras[name]`, shape (num_envs, ...),
in the same memory as the observations: no second round trip, no pickling.

| cadence | `envs.extras[name][i]` holds environment i's array as it was |
|---|---|
| `"step"` (or 1) | when its present observation was made |
| k | at its reset and at every k-th step after it |
| `"episode"` | at the end of its last finished episode, before any reset; zeros before the first end |
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError

AT_END = 0
"""The cadence of an extra that is taken at the end of an episode; others count steps."""

Cadences = dict[str, int]
Shapes = dict[str, tuple[tuple[int, ...], str]]
"""Shape and type name of each extra of one environment."""


def cadences(wanted: Iterable[str] | Mapping[str, str | int] | None) -> Cadences:
    """Turn what `make(extras=...)` takes (names, or names with cadences) into step counts."""
    if not wanted:
        return {}
    if isinstance(wanted, str):
        raise UserError(
            f"extras must be a list of names or a dict of names to cadences; got {wanted!r}. Use [{wanted!r}]."
        )
    pairs = wanted.items() if isinstance(wanted, Mapping) else ((name, "step") for name in wanted)
    found: Cadences = {}
    for name, cadence in pairs:
        if cadence == "step":
            found[name] = 1
        elif cadence == "episode":
            found[name] = AT_END
        elif isinstance(cadence, int) and cadence >= 1:
            found[name] = int(cadence)
        else:
            raise UserError(f"extras[{name!r}] must be 'step', a number of steps or 'episode'; got {cadence!r}")
    return found


def source(env: gymnasium.Env[Any, Any], name: str) -> Callable[[], NDArray[Any]]:
    """Return a function that reads one extra of `env`."""
    published: dict[str, Any] = {}
    for attribute in ("truth", "extras"):
        if env.has_wrapper_attr(attribute):
            value = env.get_wrapper_attr(attribute)
            published |= value if isinstance(value, Mapping) else _arrays_of(value)
    if name not in published:
        offered = ", ".join(sorted(published)) or "none"
        raise UserError(f"the environment {env} publishes no extra named {name!r}; it has: {offered}")
    value = published[name]
    return value if callable(value) else lambda: value


def shapes(env: gymnasium.Env[Any, Any], names: Iterable[str]) -> Shapes:
    """Return shape and type of each named extra of `env`."""
    arrays = {name: np.asarray(source(env, name)()) for name in names}
    return {name: (array.shape, array.dtype.str) for name, array in arrays.items()}


class Publisher:
    """Copies the extras of a run of environments into their rows, when they are due."""

    def __init__(
        self, envs: Sequence[gymnasium.Env[Any, Any]], rows: Mapping[str, NDArray[Any]], wanted: Cadences
    ) -> None:
        self._ages = [0] * len(envs)
        self._counted = [(cadence, rows[name], [source(e, name) for e in envs]) for name, cadence in wanted.items()]
        self._at_end = [(row, read) for cadence, row, read in self._counted if cadence == AT_END]
        self._counted = [c for c in self._counted if c[0] != AT_END]

    def after_reset(self, i: int) -> None:
        """Publish what belongs to the first observation of environment `i`."""
        self._ages[i] = 0
        for _, rows, read in self._counted:
            rows[i] = read[i]()

    def at_end(self, i: int) -> None:
        """Publish what is wanted at the end of an episode; call it before any reset."""
        for rows, read in self._at_end:
            rows[i] = read[i]()

    def after_step(self, i: int) -> None:
        """Publish what is due after a step of environment `i`."""
        self._ages[i] = age = self._ages[i] + 1
        for cadence, rows, read in self._counted:
            if age % cadence == 0:
                rows[i] = read[i]()


def _arrays_of(value: Any) -> dict[str, Any]:
    names = getattr(value, "_fields", None) or [n for n in dir(value) if not n.startswith("_")]
    found = {name: getattr(value, name) for name in names}
    arrays = {name: array for name, array in found.items() if isinstance(array, np.ndarray)}
    # One environment is a batch of one to its engine; here, the first axis counts the environments of the whole batch.
    return {name: a.reshape(a.shape[1:]) if a.shape[:1] == (1,) else a for name, a in arrays.items()}
