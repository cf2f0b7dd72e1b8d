"""What an agent is given by mistake: one sentence."""

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.agents.scripted import SCRIPTED
from garrison.errors import UserError

NAMES = [*SCRIPTED, "record"]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_observations_are_one_sentence(name: str) -> None:
    agent = load_agent(name)
    agent.begin(2)
    for wrong, message in [
        (np.zeros(52, np.int8), r"got \(52,\)\. One observation is a batch of one: act\(observation\[None\]\)"),
        (np.zeros((2, 53), np.int8), r"52\); got \(2, 53\)"),
        (np.zeros((2, 52, 1), np.int8), r"got \(2, 52, 1\)"),
        (np.full((2, 52), "x"), "acts on numbers"),
        (7, r"got \(\)"),
    ]:
        with pytest.raises(UserError, match=message):
            agent.act(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_other_numbers_are_taken_as_bits(name: str) -> None:
    bits = np.random.default_rng(0).integers(0, 2, (3, 52)).astype(np.int8)
    choices = []
    for dtype in (np.int8, np.float32, np.bool_, np.int64):
        agent = load_agent(name)
        agent.begin(3, seed=1)
        choices.append(agent.act(bits.astype(dtype)).tolist())  # type: ignore[arg-type]
    assert choices[0] == choices[1] == choices[2] == choices[3]


@pytest.mark.parametrize("name", ["record", "shield", "alert-remove", "react-restore"])
def test_another_number_of_environments_is_named(name: str) -> None:
    agent = load_agent(name)
    agent.begin(2)
    with pytest.raises(UserError, match=r"began with 2 environments; call begin\(5\)"):
        agent.act(np.zeros((5, 52), np.int8))
