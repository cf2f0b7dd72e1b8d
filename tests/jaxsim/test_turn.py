"""The JAX engine plays the compiled engine's game: every field of every state, for the same seeds and actions."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

from hypothesis import given, settings
from hypothesis import strategies as st

from garrison.agents.load import load_agent
from garrison.cage2.layout import STATE
from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS, RedKind
from garrison.cage2.observe import NUM_BITS
from tests.helpers.jax_twin import LEFT_OUT, Twin, as_fields

# All attackers in one program; rules, encoder and length are numbers, so nothing else is compiled for them.
EVERYBODY = ["bline", "meander", "sleep", "external"]
MIXTURE = {"bline": 0.5, "meander": 0.3, "sleep": 0.2}


@pytest.mark.parametrize(("rules", "encoder"), [("head", "challenge"), ("leaderboard", "wrapper2")])
def test_every_attacker_plays_the_same_game(rules: str, encoder: str) -> None:
    reds, lengths = EVERYBODY * 32, [30] * 32 + [50] * 32 + [100] * 32 + [7] * 32
    Twin(128, seed=1, red=reds, length=lengths, rules=rules, encoder=encoder, observation="memory").play(220)


@pytest.mark.parametrize("encoder", ["challenge", "wrapper2"])
@pytest.mark.parametrize("rules", ["head", "leaderboard"])
def test_mixtures_are_drawn_alike_at_every_reset(rules: str, encoder: str) -> None:
    twin = Twin(64, seed=7, red=MIXTURE, length=30, rules=rules, encoder=encoder, observation="memory")
    twin.play(130)
    assert set(np.asarray(twin.state.red).tolist()) == {0, 1, 2}


@pytest.mark.parametrize("red", ["bline", "meander", "sleep"])
def test_one_attacker_alone_plays_the_same_game(red: str) -> None:
    Twin(64, seed=100, red=red, length=100, actions="compact").play(210)


def test_sessions_that_pile_up_are_counted_alike() -> None:
    """An attacker that plays at random breaks what scripted ones keep to (rules §14)."""
    twin = Twin(128, seed=3, red="external", length=500).play(410)
    assert twin.batch.get_state()["sessions"].max() > 3


def test_the_state_has_all_fields_of_the_compiled_engine_but_those_named() -> None:
    twin = Twin(4, red=EVERYBODY, observation="memory")
    assert set(as_fields(twin.state)) | LEFT_OUT == set(STATE.names or ())
    assert set(as_fields(twin.state)) & LEFT_OUT == set()


def test_a_difference_is_noticed() -> None:
    twin = Twin(2)
    twin.state = twin.state._replace(malware=twin.state.malware + 8)
    with pytest.raises(AssertionError, match="malware of environment 0"):
        twin.compare()


ACTION = st.one_of(
    st.integers(0, NUM_ACTIONS - 1), st.builds(lambda b, h: 2 + 13 * b + h, st.integers(0, 10), st.integers(1, 3))
)
RED_ACTION = st.tuples(st.integers(0, RedKind.IMPACT), st.integers(0, NUM_HOSTS - 1))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    turns=st.lists(st.tuples(ACTION, RED_ACTION), min_size=5, max_size=40),
    rules=st.sampled_from(["head", "leaderboard"]),
)
def test_any_sequence_of_actions_gives_the_same_states(seed: int, turns: list[Any], rules: str) -> None:
    twin = Twin(4, seed=seed, red=EVERYBODY, length=[25, 13, 40, 40], rules=rules, observation="memory")
    for blue, red in turns:
        twin.step(np.full(4, blue), np.tile(red, (4, 1)))


@pytest.mark.long
@pytest.mark.parametrize("policy", ["random", "react-remove", "record-head", "record"])
def test_a_quarter_of_a_million_steps_are_the_same(policy: str) -> None:
    """By four policies, a million: at random, scripted, and two that were trained, under either rules."""
    n, agent = 1024, None if policy == "random" else load_agent(policy)
    rules, encoder = (agent.rules or "head", agent.encoder) if agent else ("leaderboard", "wrapper2")
    reds, lengths = EVERYBODY * (n // 4), ([30] * 4 + [50] * 4 + [100] * 4 + [365] * 4) * (n // 16)
    twin = Twin(n, seed=5000, red=reds, length=lengths, rules=rules, encoder=encoder, observation="memory")
    if agent:
        agent.begin(n)
    for _ in range(256):
        blue, red = twin.random_actions()
        twin.step(agent.act(twin.batch.observations[:, :NUM_BITS]) if agent else blue, red)
        if agent and (starts := twin.batch.truth.t == 0).any():
            agent.reset(starts)
