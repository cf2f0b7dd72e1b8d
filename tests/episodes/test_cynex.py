"""The export for Cynex has what the schema of its format 2.0 asks for, and says what is true."""

import json

from garrison.agents import load_agent
from garrison.episodes.cynex import to_cynex
from garrison.episodes.game import Game
from tests.helpers.scripts import by_the_book, episode_of

ACTION_KEYS = {"step", "Action", "Status", "Host", "Params"}


def test_the_file_has_what_the_schema_asks_for() -> None:
    episode = episode_of(load_agent("record"), Game("meander", 30, "leaderboard"), 7)
    found = json.loads(json.dumps(to_cynex(episode)))
    assert (found["format_version"], found["challenge"], found["total_steps"]) == ("2.0", "CC2", 30)
    for name in ("blue_agent_name", "red_agent_name", "experiment_time"):
        assert isinstance(found[name], str)
    assert set(found["agent_actions"]) == {*found["blue_agents"], *found["red_agents"]}
    for actions in (*found["agent_actions"].values(), found["blue_actions"], found["red_actions"]):
        assert len(actions) == 30
        assert all(set(action) == ACTION_KEYS for action in actions)
        assert all(isinstance(action["Host"], str) and action["Host"] for action in actions)
    assert len(found["network_topology"]) == 13
    addresses = {host["Interface"][0]["IP Address"] for host in found["network_topology"].values()}
    assert len(addresses) == 13
    subnets = {subnet["network_address"] for subnet in found["subnet_metadata"].values()}
    for host in found["network_topology"].values():
        assert set(host) == {"Interface", "Sessions", "Processes", "User Info", "System info"}
        assert host["Interface"][0]["Subnet"]["network_address"] in subnets
        assert host["System info"]["OSType"] in ("LINUX", "WINDOWS")
    assert found["subnet_metadata"]["Enterprise"]["nacl_connections"] == ["Operational", "User"]


def test_the_states_are_the_true_ones() -> None:
    red = ["sweep User", "scan User1", "exploit User1", "sleep"]
    found = to_cynex(by_the_book(["Sleep"] * 3 + ["Restore User1"], red, seed=2))
    held = [state["host_compromise"]["User1"] for state in found["step_states"]]
    assert held == ["NONE", "NONE", "PRIVILEGED", "NONE"]
    assert found["step_states"][0]["host_compromise"]["User0"] == "PRIVILEGED"
    assert [state["cumulative_reward"]["Blue"] for state in found["step_states"]] == [0, 0, -0.1, -1.1]
    assert [action["Action"] for action in found["red_actions"]][2:] == ["ExploitRemoteService", "Sleep"]
    assert found["red_actions"][2]["Host"] == "User1"
    assert found["red_actions"][0]["Params"] == {"Subnet": "User"}
    assert found["blue_actions"][3] | {"step": 0} == {
        "step": 0,
        "Action": "Restore",
        "Status": "TRUE",
        "Host": "User1",
        "Params": {},
    }
