"""States of one engine as states of the other: nothing is lost on the way there and back."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

from garrison.cage2.layout import STATE
from garrison.cage2.names import RedKind
from garrison.cage2.vector_env import VectorEnv
from garrison.jaxsim import Cage2
from garrison.jaxsim.state_records import from_records, to_records

INSIDE_A_STEP = {"placed", "found", "events", "event_ports", "event_shell"}
NUM_ENVS = 128


@pytest.mark.parametrize("observation", ["bits", "memory"])
@pytest.mark.parametrize("red", ["bline", "meander", "sleep", "external", {"bline": 0.5, "meander": 0.5}], ids=str)
def test_records_come_back_as_they_were(red: Any, observation: str) -> None:
    envs = VectorEnv(NUM_ENVS, red=red, length=70, observation=observation)
    env = Cage2(red=red, length=70, observation=observation)
    envs.reset(seed=3)
    generator = np.random.default_rng(0)
    for step in range(100):
        envs.step(actions(generator, red))
        if step % 33 == 0:
            compare(envs, env)


def actions(generator: np.random.Generator, red: Any) -> Any:
    """Return mostly idle actions; an external attacker exploits, so that sessions of all kinds pile up."""
    blue = np.where(generator.random(NUM_ENVS) < 0.5, 0, generator.integers(0, 145, NUM_ENVS))
    if red != "external":
        return blue
    kinds = generator.choice(
        [RedKind.SWEEP, RedKind.SCAN, RedKind.EXPLOIT, RedKind.EXPLOIT, RedKind.ESCALATE], NUM_ENVS
    )
    targets = np.where(kinds == RedKind.SWEEP, 2, generator.integers(8, 13, NUM_ENVS))
    return {"blue": blue, "red": np.stack([kinds, targets], axis=1)}


def compare(envs: VectorEnv, env: Cage2) -> None:
    before = envs.get_state()
    after = np.zeros(NUM_ENVS, STATE)
    to_records(from_records(before, env.variant, env.default_params), envs._scenario, after)
    for name in ("length", "done"):  # what the batch has beside the state
        after[name] = before[name]
    for name in set(STATE.names or ()) - INSIDE_A_STEP:
        assert before[name].tobytes() == after[name].tobytes(), name
