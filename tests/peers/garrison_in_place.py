"""A pytest plugin that puts a backend of Garrison in the place of the peers' own vector environments.

It is loaded before the peers' tests import theirs; the variable `GARRISON_BACKEND` names the backend.
"""

import os
from typing import Any

import gymnasium.vector
import pytest

import garrison.vector

BACKEND = os.environ["GARRISON_BACKEND"]


def make(makers: Any, **options: Any) -> Any:
    """Make environments on the backend under test."""
    return garrison.vector.make(list(makers), backend=BACKEND, start_method="fork", **options)


class InPlace:
    """Called like Gymnasium's SyncVectorEnv and AsyncVectorEnv."""

    def __new__(cls, env_fns: Any, **options: Any) -> Any:
        if options.pop("observation_mode", "same") != "same" or options.pop("worker", None) is not None:
            pytest.skip("an option that Garrison does not have")
        return make(env_fns, **{name: options[name] for name in ("copy", "autoreset_mode") if name in options})


for name in ("SyncVectorEnv", "AsyncVectorEnv"):  # the names are part of the names of tests
    setattr(gymnasium.vector, name, type(name, (InPlace,), {}))

try:
    import stable_baselines3.common.vec_env as sb3
except ModuleNotFoundError:
    pass
else:

    class Sb3InPlace:
        """Called like SB3's DummyVecEnv and SubprocVecEnv."""

        def __new__(cls, env_fns: Any, start_method: str | None = None) -> Any:
            return garrison.vector.sb3(make(env_fns, autoreset_mode="same_step"))

    for name in ("DummyVecEnv", "SubprocVecEnv"):
        setattr(sb3, name, type(name, (Sb3InPlace,), {}))
