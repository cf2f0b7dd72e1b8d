"""Who reads a belief hands over where the belief is wrong."""

from typing import Any

import numpy as np
import pytest

from garrison.agents import GuardedAgent, NetworkAgent, Round, SearchAgent, SearchSettings, ValueAgent, load_agent
from garrison.agents.load import GUARDED
from garrison.agents.search_agent import Race
from garrison.bench.suites.unmet_attackers import UNMET
from garrison.cage2 import VectorEnv
from garrison.errors import UserError

LATE = "B_line, asleep for 5 steps"
EAGER = "Meander, exploits before it scans on"
QUICK = SearchSettings(likeliest=3, rounds=(Round(4, 2),), horizon=4, lengths=(8, 12))  # soon solved
FOUND = 1
"""Monitor: an action that `record` does not take, as it happens in every step anyway"""


def _alone(name: str) -> NetworkAgent:
    agent = load_agent(name)
    if isinstance(agent, GuardedAgent):
        agent = agent._policy
    assert isinstance(agent, NetworkAgent)
    return agent


def _play(agent: Any, red: Any, steps: int = 30, seed: int = 3) -> tuple[np.ndarray[Any, Any], float]:
    """Return (steps, environments) actions and the mean return."""
    envs = VectorEnv(4, red=red, rules="leaderboard", length=100, autoreset_mode="Disabled")
    observations, _ = envs.reset(seed=seed)
    agent.begin(4, seed=3)
    played, total = [], 0.0
    for _ in range(steps):
        actions = agent.act(observations).copy()
        observations, rewards, *_ = envs.step(actions)
        played.append(actions)
        total += float(rewards.mean())
    return np.array(played), total


@pytest.mark.parametrize("name", GUARDED)
def test_shipped_networks_that_read_a_belief_have_a_guard(name: str) -> None:
    agent, guard = load_agent(name), load_agent(GUARDED[name])
    assert isinstance(agent, GuardedAgent)
    assert (agent.name, agent.rules, agent.encoder) == (name, guard.rules, guard.encoder)
    assert agent.guard.name == GUARDED[name]


@pytest.mark.parametrize("red", ["bline", "meander"])
def test_against_the_challenges_attackers_the_guard_sleeps(red: str) -> None:
    agent = load_agent("record-belief")
    assert np.array_equal(_play(agent, red)[0], _play(_alone("record-belief"), red)[0])
    assert not agent._policy.misses.any()


def test_against_another_attacker_the_guard_takes_over_and_has_been_watching() -> None:
    agent = load_agent("record-belief")
    envs = VectorEnv(4, red=UNMET[LATE](), rules="leaderboard", length=100, autoreset_mode="Disabled")
    observations, _ = envs.reset(seed=3)
    agent.begin(4, seed=3)
    guard = _alone("record")
    guard.begin(4, seed=3)
    seen = []
    for _ in range(30):
        actions, others = agent.act(observations).copy(), guard.act(observations)
        is_lost = agent._policy.misses > 0
        assert np.array_equal(actions[is_lost], others[is_lost])
        chosen = agent.explain().probabilities.argmax(axis=1)
        assert np.array_equal(chosen, actions)
        guard.took(actions)
        observations, *_ = envs.step(actions)
        seen.append(is_lost)
    assert not seen[4].any()
    assert seen[-1].all()
    _, guarded = _play(agent, UNMET[LATE](), 100)
    _, alone = _play(_alone("record-belief"), UNMET[LATE](), 100)
    assert guarded > alone + 10, "trusting a wrong belief costs much"


def test_it_trusts_again_in_the_next_episode_and_clones_go_on() -> None:
    agent = load_agent("record-belief")
    _play(agent, UNMET[LATE](), 12)
    assert (agent._policy.misses > 0).all()
    twin = agent.clone(np.array([1, 1]), seed=4)
    bits = np.zeros((4, 52), np.int8)
    assert np.array_equal(twin.act(bits[:2]), agent.act(bits)[[1, 1]])
    assert (twin._policy.misses > 0).all()
    agent.reset(np.array([True, False, False, False]))
    agent.act(bits)
    assert (agent._policy.misses > 0).tolist() == [False, True, True, True]


@pytest.mark.parametrize("red", ["bline", EAGER])
def test_a_search_changes_nothing_where_its_belief_has_missed(red: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Race, "winner", lambda race, margin: FOUND)
    agent, network = SearchAgent(_alone("record"), QUICK), _alone("record")
    attacker = UNMET[red]() if red in UNMET else red
    envs = VectorEnv(4, red=attacker, rules="leaderboard", length=30, autoreset_mode="Disabled")
    observations, _ = envs.reset(seed=3)
    agent.begin(4)
    network.begin(4)
    found = 0
    for _ in range(20):
        own, actions = network.act(observations), agent.act(observations).copy()
        is_lost = agent.beliefs.misses > 0
        assert np.array_equal(actions[is_lost], own[is_lost])
        found += int((actions == FOUND).sum())
        network.took(actions)
        observations, *_ = envs.step(actions)
    assert is_lost.all() == (red == EAGER)
    assert found > 0, "where it has not missed, what is found is taken"


def test_values_choose_nothing_where_the_belief_has_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("garrison.agents.value_agent.action_values", lambda rules, red: None)
    agent, network = ValueAgent(_alone("record")), _alone("record")
    monkeypatch.setattr(agent, "_worth", lambda states, weights, clock: (np.arange(145) == FOUND).astype(float))
    agent.begin(4)
    network.begin(4)
    envs = VectorEnv(4, red=UNMET[LATE](), rules="leaderboard", length=30, autoreset_mode="Disabled")
    observations, _ = envs.reset(seed=3)
    for _ in range(12):
        own, actions = network.act(observations), agent.act(observations).copy()
        is_lost = agent.beliefs.misses > 0
        assert np.array_equal(actions, np.where(is_lost, own, FOUND))
        network.took(actions)
        observations, *_ = envs.step(actions)
    assert is_lost.all()


@pytest.mark.parametrize(
    ("policy", "guard", "message"),
    [
        ("record", "record-1", "record must read a belief"),
        ("record-belief", "record-belief", "record-belief, its guard, must not"),
        ("record-belief", "record-head", "record-head cannot play beside record-belief: it has other rules"),
    ],
)
def test_wrong_guards_are_refused(policy: str, guard: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        GuardedAgent(_alone(policy), _alone(guard))
