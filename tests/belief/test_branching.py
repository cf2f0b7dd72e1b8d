"""The outcomes of a step that `tests.helpers.slow_belief` finds, against as many steps of the simulator as it takes.

The compiled filter is held against that helper in `test_updating.py`.
"""

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.belief.merging import digests, forget_past
from garrison.belief.state_stepper import Stepper
from garrison.cage2 import VectorEnv
from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import ACTIONS, RedKind, Source
from tests.helpers.slow_belief import Branching, merge

SAMPLES = 4000
SIGMAS = 5  # some thousand outcomes are compared: one in a million runs would be off by chance


def _played(rules: str, red: str, steps: int, num_envs: int) -> VectorEnv:
    """Return a batch in the middle of its episodes, defended at random so that all kinds of states come up."""
    envs = VectorEnv(num_envs, red=red, rules=rules, length=MAX_LENGTH)
    observations, _ = envs.reset(seed=11)
    agent = load_agent("random")
    agent.begin(num_envs, seed=11)
    for _ in range(steps):
        observations, *_ = envs.step(agent.act(observations))
    return envs


@pytest.mark.parametrize("rules", ["head", "leaderboard"])
@pytest.mark.parametrize("red", ["bline", "meander", "sleep"])
def test_outcomes_are_those_that_the_simulator_draws_as_often_as_it_draws_them(rules: str, red: str) -> None:
    envs = _played(rules, red, 0, 4)
    stepper = Stepper(rules, "challenge")
    branching = Branching(stepper)
    random = np.random.default_rng(3)
    kinds = set()
    for _ in range(40):
        actions = random.integers(2, len(ACTIONS), 4)
        state, action = envs.get_state()[0], int(actions[0])
        after, weights, bits = branching.outcomes(np.array([state]), np.ones(1), action)
        kinds |= set(after["red_kind"].tolist())
        forget_past(after)
        expected: dict[int, float] = {}
        for key, weight in zip(digests(after).tolist(), weights.tolist(), strict=True):
            expected[key] = expected.get(key, 0.0) + weight
        assert sum(expected.values()) == pytest.approx(1)

        copies = np.repeat(np.array([state]), SAMPLES)
        copies["stream"] = random.integers(1, 2**32, (SAMPLES, 4), np.uint32)
        shown, _ = stepper.step(copies, np.full(SAMPLES, action))
        assert {row.tobytes() for row in shown} <= {row.tobytes() for row in bits}
        drawn, counts = merge(copies, np.ones(SAMPLES))
        found = dict(zip(digests(drawn).tolist(), counts.tolist(), strict=True))
        assert set(found) <= set(expected)
        for key, odds in expected.items():
            allowed = SIGMAS * np.sqrt(odds * (1 - odds) / SAMPLES) + SIGMAS / SAMPLES
            assert abs(found.get(key, 0) / SAMPLES - odds) <= allowed
        envs.step(actions)
    assert RedKind.EXPLOIT in kinds or red == "sleep"


def test_an_escalation_among_several_sessions_lifts_each_as_often_as_the_simulator_does() -> None:
    envs = _played("head", "bline", 0, 1)
    state = envs.get_state()
    user = 9
    state["bline_state"], state["bline_user"], state["red_success"] = 2, user, 1  # the next step escalates on User1
    state["sessions"][0, user], state["removable"][0, user], state["hidden"][0, user] = 5, 3, 2
    state["lead"][0, user], state["oldest_fixed"][0, user], state["access"][0, user] = 1, 1, 1
    state["known_host"][0, user] = 1
    stepper = Stepper("head", "challenge")
    after, weights, _ = Branching(stepper).outcomes(state, np.ones(1), 0)
    assert set(after["red_kind"]) == {RedKind.ESCALATE}
    forget_past(after)
    expected = dict.fromkeys(digests(after).tolist(), 0.0)
    for key, weight in zip(digests(after).tolist(), weights.tolist(), strict=True):
        expected[key] += weight
    assert sorted(expected.values()) == pytest.approx([0.2, 0.2, 0.2, 0.4])

    copies = np.repeat(state, SAMPLES)
    copies["stream"] = np.random.default_rng(1).integers(1, 2**32, (SAMPLES, 4), np.uint32)
    stepper.step(copies, np.zeros(SAMPLES, np.int64))
    drawn, counts = merge(copies, np.ones(SAMPLES))
    assert set(digests(drawn).tolist()) == set(expected)
    for key, count in zip(digests(drawn).tolist(), counts, strict=True):
        odds = expected[key]
        assert abs(count / SAMPLES - odds) <= SIGMAS * np.sqrt(odds * (1 - odds) / SAMPLES)


def test_states_are_left_as_they_were() -> None:
    states = _played("head", "meander", 20, 3).get_state()
    before = states.copy()
    after, _, _ = Branching(Stepper("head", "challenge")).outcomes(states, np.ones(3), 30)
    assert states.tobytes() == before.tobytes()
    assert (after["source"] == Source.STREAM).all()
    assert set(after["t"].tolist()) == {21}
