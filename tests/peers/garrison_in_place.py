"""A pytest plugin that puts a backend of Garrison in the place of the peers' own vector environments.

It is loaded before the peers' tests import theirs; the variable `GARRISON_BACKEND` names the backend, or is empty for
the peers' own. A test that hangs fails after `TEST_SECONDS`.
"""

import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium.vector
import pytest

import garrison.vector

sys.modules["mujoco"] = None  # type: ignore[assignment]  # without a screen its renderer aborts the whole run
BACKEND = os.environ["GARRISON_BACKEND"]
TEST_SECONDS = 90


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Interrupt a test that takes too long."""

    def give_up(*_: Any) -> None:
        pytest.fail(f"not done within {TEST_SECONDS} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(TEST_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def make(makers: Any, start_method: str | None = None, **options: Any) -> Any:
    """Make environments on the backend under test."""
    return garrison.vector.make(list(makers), backend=BACKEND, start_method=start_method or "fork", **options)


class InPlace:
    """Called like Gymnasium's SyncVectorEnv and AsyncVectorEnv."""

    def __new__(cls, env_fns: Any, **options: Any) -> Any:
        if options.pop("observation_mode", "same") != "same" or options.pop("worker", None) is not None:
            pytest.skip("an option that Garrison does not have")
        return make(env_fns, **{name: options[name] for name in ("copy", "autoreset_mode") if name in options})


class Sb3InPlace:
    """Called like SB3's DummyVecEnv and SubprocVecEnv."""

    def __new__(cls, env_fns: Any, start_method: str | None = None) -> Any:
        return garrison.vector.sb3(make(env_fns, start_method, autoreset_mode="same_step"))


try:
    from stable_baselines3.common import env_util, vec_env
except ModuleNotFoundError:
    sb3_names: tuple[str, ...] = ()
else:
    sb3_names = ("DummyVecEnv", "SubprocVecEnv")

if BACKEND:
    for name in ("SyncVectorEnv", "AsyncVectorEnv"):  # the names are part of the names of tests
        setattr(gymnasium.vector, name, type(name, (InPlace,), {}))
    for name in sb3_names:
        setattr(vec_env, name, type(name, (Sb3InPlace,), {}))
        setattr(env_util, name, getattr(vec_env, name))
elif sb3_names:
    own = vec_env.SubprocVecEnv

    class Forked(own):
        """SB3's own workers by fork, as ours here: each of a fork server imports torch, for several seconds."""

        def __init__(self, env_fns: Any, start_method: str | None = None) -> None:
            super().__init__(env_fns, start_method or "fork")

    vec_env.SubprocVecEnv = type("SubprocVecEnv", (Forked,), {})
