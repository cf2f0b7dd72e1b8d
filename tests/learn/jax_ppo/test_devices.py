"""One compiled program for all agents: nothing leaves the device, nothing is compiled twice, devices share agents."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from garrison.learn import JaxPPOConfig, PolicyConfig, train
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.jax_ppo.device_envs import DeviceEnvs
from garrison.learn.jax_ppo.devices import Program
from garrison.learn.jax_ppo.update import Pace, Trainer, key_of
from tests.helpers.jax_env import JaxBits
from tests.helpers.learning import Log

SMALL = JaxPPOConfig(steps=4000, rollout=25, minibatches=4, policy=PolicyConfig(hidden=(16,)), action_masks=True)


def trainer() -> Trainer:
    return Trainer(SMALL, DeviceEnvs(JaxBits(), 20), DensePolicy(10, 8, SMALL.policy))


def primitives(jaxpr: Any) -> set[str]:
    """Return the names of all operations, those of inner functions and loops included."""
    found = set()
    for equation in jaxpr.eqns:
        found.add(equation.primitive.name)
        for value in equation.params.values():
            for part in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(part, "jaxpr", part)
                found |= primitives(inner) if hasattr(inner, "eqns") else set()
    return found


def test_nothing_leaves_the_device_within_a_call() -> None:
    made = trainer()
    size = max(place.end for place in made.policy.places.values())
    state = made.begin(jnp.asarray(key_of(0)), jnp.zeros(size), jnp.int32(0), made.envs.params)
    pace = Pace(jnp.zeros(4), jnp.zeros(4))
    names = primitives(jax.make_jaxpr(made.run)(state, made.envs.params, pace, jnp.int32(2)).jaxpr)
    assert {"scan", "while", "sort", "dot_general"} <= names
    assert not [name for name in names if "callback" in name or "feed" in name or name == "device_put"]


def test_nothing_is_compiled_once_training_has_begun() -> None:
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **more: compiled.append(event) if "compile" in event else None
    )

    class Started(Log):
        def started(self) -> None:
            assert compiled
            compiled.clear()

    log = Started()
    result = train(replace(SMALL, seeds=2, steps=40_000), JaxBits(), 20, run=log)
    assert len(log.metrics) == result.updates == 80
    assert compiled == []


def test_a_program_has_as_many_devices_as_can_share_the_agents_evenly() -> None:
    program = Program(trainer(), 3, "auto")
    assert program.devices == 1 == len(jax.devices())


ON_TWO = """
import jax
from dataclasses import replace
from garrison.learn import JaxPPOConfig, PolicyConfig, train
from garrison.learn.jax_ppo import devices
from garrison.storage.saved_run import agents_of
from tests.helpers.jax_env import JaxBits
from tests.helpers.learning import same

two = JaxPPOConfig(
    steps=2000, rollout=25, minibatches=4, policy=PolicyConfig(hidden=(16,)), action_masks=True, seeds=2
)
found = devices.find_devices("auto")
_, second = agents_of(train(two, JaxBits(), 20).state)
devices.find_devices = lambda name: found[:1]
alone = train(two.alone(1), JaxBits(), 20).state
print(len(found), same(second, alone))
"""


def test_agents_with_a_device_each_are_those_trained_alone_to_the_bit() -> None:
    env = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", ON_TWO], env=env, cwd=root, capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode) == (["2", "True"], 0), done.stderr
