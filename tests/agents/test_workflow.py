"""The scripted baselines of workflows: what they fix, and how they comply."""

from itertools import permutations

import numpy as np
import pytest

from garrison.agents.protocol import Agent
from garrison.agents.workflow import BASELINES, FixedOrder, GreedyByOrder, RandomFix
from garrison.cage2 import ACTIONS, HOSTS, VectorEnv
from garrison.cage2.workflow import Workflow
from garrison.errors import UserError

ORDERS = list(range(0, 120, 2))


def rates(agent: Agent, definition: str = "state", red: str = "meander") -> np.ndarray:
    """Play one episode for each of `ORDERS` and return their compliance."""
    envs = VectorEnv(len(ORDERS), red=red, length=60, workflow=Workflow(ORDERS, definition=definition))
    assert envs.workflow is not None
    if isinstance(agent, GreedyByOrder) and agent.name.endswith("truth"):
        agent.truth = envs.truth
    obs, _ = envs.reset(seed=0)
    agent.begin(len(ORDERS), seed=1)
    for _ in range(60):
        actions = agent.act(obs)
        assert not any(ACTIONS[a].name.endswith("User0") for a in actions)
        obs, *_ = envs.step(actions)
    assert (envs.workflow.last_fixes > 0).all()
    return envs.workflow.last_rate


def test_greedy_by_the_true_state_complies_always() -> None:
    truth = VectorEnv(1).truth
    assert (rates(GreedyByOrder(ORDERS, truth=truth)) == 1).all()
    assert (rates(GreedyByOrder(ORDERS, "remove", truth)) == 1).all()
    assert (rates(GreedyByOrder(119, "remove", truth)) < 1).any()  # the orders that it is judged by are not its own


def test_greedy_by_belief_complies_mostly_and_better_than_chance() -> None:
    greedy = rates(GreedyByOrder(ORDERS)).mean()
    assert greedy > 0.9
    assert greedy > rates(RandomFix()).mean() + 0.3


def test_a_fixed_order_complies_by_history_and_not_by_state() -> None:
    assert (rates(FixedOrder(ORDERS), "history") == 1).all()
    assert (rates(FixedOrder(ORDERS, "remove"), "history") == 1).all()
    assert rates(FixedOrder(ORDERS)).mean() < 0.9


def test_a_fixed_order_goes_through_the_hosts_type_by_type() -> None:
    agent = FixedOrder(list(permutations(range(5))).index((2, 4, 1, 0, 3)))
    agent.begin(2)
    empty = np.zeros((2, 52), np.int8)
    names = [ACTIONS[agent.act(empty)[0]].name for _ in range(13)]
    hosts = ["Op_Server0", "User1", "User2", "User3", "User4", "Enterprise0", "Enterprise1", "Enterprise2", "Defender"]
    assert names == [f"Restore {h}" for h in [*hosts, "Op_Host0", "Op_Host1", "Op_Host2", "Op_Server0"]]
    agent.reset(np.array([True, False]))
    assert [ACTIONS[a].name for a in agent.act(empty)] == ["Restore Op_Server0", "Restore User1"]


def test_greedy_fixes_the_most_urgent_host_that_it_believes_compromised() -> None:
    bits = np.zeros((3, 77), np.int8)

    def believe(row: int, host: str, *belief: int) -> None:
        at = 4 * HOSTS.index(host)
        bits[row, at + 2 : at + 4] = belief

    believe(0, "User0", 1, 1)
    believe(1, "User3", 0, 1)
    believe(1, "Enterprise2", 1, 1)
    believe(2, "Op_Host1", 1, 0)
    believe(2, "User2", 0, 1)
    orders = [0, list(permutations(range(5))).index((4, 1, 0, 2, 3)), 0]
    for fix, expected in [
        ("restore", ["Monitor", "Restore User3", "Restore Op_Host1"]),
        ("remove", ["Monitor", "Remove User3", "Remove User2"]),
    ]:
        agent = GreedyByOrder(orders, fix)
        agent.begin(3)
        assert [ACTIONS[a].name for a in agent.act(bits)] == expected


@pytest.mark.parametrize("name", list(BASELINES))
def test_every_baseline_has_its_name_and_repeats_itself(name: str) -> None:
    agent = BASELINES[name](7)
    assert agent.name == name
    assert agent.encoder == "challenge"
    bits = np.random.default_rng(0).integers(0, 2, (50, 52)).astype(np.int8)
    first, again = [], []
    for kept in (first, again):
        agent.begin(50, seed=3)
        kept += [agent.act(bits).tolist() for _ in range(5)]
    assert first == again
    kinds = {ACTIONS[a].name.split()[0] for row in first for a in row}
    assert kinds <= {"Remove", "Restore", "Monitor"}


def test_wrong_settings_are_named() -> None:
    with pytest.raises(UserError, match="did you mean 'restore'"):
        FixedOrder(0, "restored")
    with pytest.raises(UserError, match="unknown fix"):
        GreedyByOrder(0, "analyse")
    with pytest.raises(UserError, match="one for each of the 3"):
        GreedyByOrder([1, 2]).begin(3)
