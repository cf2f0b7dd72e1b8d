"""Scripted agents: what each does, and that it sees no more than an entry may see."""

import numpy as np
import pytest

from garrison.agents import SCRIPTED, load_agent
from garrison.cage2 import ACTIONS, HOSTS, VectorEnv
from garrison.errors import UserError

NAMES = {action.id: action.name for action in ACTIONS}
QUIET = np.zeros((1, 52), np.int8)


def exploit_on(host: str) -> np.ndarray:
    observation = QUIET.copy()
    observation[0, 4 * HOSTS.index(host) : 4 * HOSTS.index(host) + 2] = 1
    return observation


def scan_on(host: str) -> np.ndarray:
    observation = QUIET.copy()
    observation[0, 4 * HOSTS.index(host)] = 1
    return observation


def test_react_restore_monitors_then_restores_every_host_but_user0_whatever_it_sees() -> None:
    agent = load_agent("react-restore")
    agent.begin(1)
    played = [NAMES[int(agent.act(exploit_on("User1"))[0])] for _ in range(14)]
    assert played == ["Monitor", *(f"Restore {host}" for host in HOSTS if host != "User0"), "Monitor"]


def test_alert_remove_fixes_where_a_monitor_shows_an_exploit() -> None:
    agent = load_agent("alert-remove")
    agent.begin(1)
    seen = [QUIET, exploit_on("Enterprise1"), exploit_on("Op_Host0"), scan_on("User2"), exploit_on("User0"), QUIET]
    played = [NAMES[int(agent.act(observation)[0])] for observation in seen]
    # The exploit on Op_Host0 is shown after a Remove, not after a Monitor: the original agent does not look then.
    assert played == ["Monitor", "Remove Enterprise1", "Monitor", "Monitor", "Monitor", "Monitor"]


def test_belief_restore_restores_the_first_host_that_is_believed_compromised() -> None:
    agent = load_agent("belief-restore")
    agent.begin(1)
    believed = exploit_on("User1")
    believed[0, 4 * HOSTS.index("Enterprise2") + 2] = 1  # unknown
    believed[0, 4 * HOSTS.index("User1") + 3] = 1  # user
    played = [NAMES[int(agent.act(seen)[0])] for seen in (QUIET, exploit_on("User1"), believed)]
    assert played == ["Sleep", "Sleep", "Restore Enterprise2"]


def test_shield_restores_op_server0_once_per_episode() -> None:
    agent = load_agent("shield")
    agent.begin(1)
    played = [NAMES[int(agent.act(QUIET)[0])] for _ in range(3)]
    agent.reset(np.array([True]))
    played.append(NAMES[int(agent.act(QUIET)[0])])
    assert played == ["Restore Op_Server0", "Sleep", "Sleep", "Restore Op_Server0"]


@pytest.mark.parametrize("name", [name for name in SCRIPTED if name != "random"])  # which has no memory
def test_a_reset_forgets_only_the_environments_that_begin_anew(name: str) -> None:
    seen = np.concatenate([exploit_on("User1"), exploit_on("User1")])
    agent, fresh = load_agent(name), load_agent(name)
    agent.begin(2)
    fresh.begin(1)
    agent.act(seen)
    agent.reset(np.array([True, False]))
    second = agent.act(seen)
    assert second[0] == fresh.act(seen[:1])[0]
    if name.startswith(("react", "alert")):
        assert second[0] != second[1]


@pytest.mark.parametrize("name", SCRIPTED)
def test_actions_are_legal_and_the_same_for_the_same_seed(name: str) -> None:
    histories = []
    for _ in range(2):
        envs, agent = VectorEnv(8, red="meander", length=20), load_agent(name)
        observations, _ = envs.reset(seed=3)
        agent.begin(8, seed=5)
        history = []
        for _ in range(20):
            actions = agent.act(observations)
            observations, *_ = envs.step(actions)
            history.append(actions.copy())
        histories.append(np.array(history))
    assert np.array_equal(*histories)
    assert histories[0].min() >= 0
    assert histories[0].max() < 145


def test_an_unknown_agent_is_an_error_that_suggests_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'react-restore'"):
        load_agent("react-restor")
