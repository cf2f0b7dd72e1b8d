"""Scripts of users, as the documentation writes them, under mypy --strict."""

from pathlib import Path

import pytest

from tests.helpers.type_check import type_errors

pytest.importorskip("mypy", reason="mypy is not installed")

RIGHT = """
import numpy as np
from typing import assert_type

import garrison.vector
from garrison.vector.backends.async_ import AsyncEnvs
from garrison.vector.backends.native import NativeEnvs
from garrison.vector.backends.worker_envs import WorkerEnvs
from garrison.vector.base import BatchedEnvs

envs = garrison.vector.make("CartPole-v1", num_envs=64)
print(envs.choice, envs.backend, envs.workers, envs.autoreset_mode, envs.extras["hidden"].shape, envs.num_envs)
observations, infos = envs.reset(seed=0)
observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
envs.close()

ready = garrison.vector.make("CartPole-v1", 64, "async", batch_size=16)
assert_type(ready, AsyncEnvs)
ready.send(np.zeros(64, int))
*_, env_ids = ready.recv()
ready.send(np.zeros(len(env_ids), int), env_ids)

native = garrison.vector.make("garrison/CAGE2-v0", 64, "native", autoreset_mode="same_step", extras=["access"])
assert_type(native, NativeEnvs)
assert_type(garrison.vector.make("garrison/CAGE2-v0", 64, "jax"), NativeEnvs)
print(native.truth.access, native.extras["access"], native.action_masks())
model_envs = garrison.vector.sb3(native)
model_envs.step_async([0])

shared = garrison.vector.make("CartPole-v1", backend="shared", num_envs=4, start_method="spawn", timing=True)
assert_type(shared, WorkerEnvs)
print(shared.pids, shared.times)
print(garrison.vector.make("CartPole-v1", 2, "serial").envs[0])
name: str = input()
assert_type(garrison.vector.make("CartPole-v1", 2, name), BatchedEnvs | NativeEnvs)
"""

WRONG = """
import garrison.vector

garrison.vector.make("CartPole-v1", 2, start_method="frok")
garrison.vector.make("CartPole-v1", 2, autoreset_mode="samestep")
garrison.vector.make("CartPole-v1", 2, timing="always")
garrison.vector.make("CartPole-v1", 2, on_worker_death="ignore")
garrison.vector.make("CartPole-v1", 2, "shared").send(0)
garrison.vector.sb3(garrison.vector.make("CartPole-v1", 2)).no_such_method()
"""


def test_documented_attributes_have_types(tmp_path: Path) -> None:
    assert type_errors(RIGHT, tmp_path) == []


def test_misspelt_options_and_missing_attributes_are_found(tmp_path: Path) -> None:
    lines = [int(line.split(":")[1]) for line in type_errors(WRONG, tmp_path) if ": error:" in line]
    assert sorted(set(lines)) == [4, 5, 6, 7, 8, 9]
