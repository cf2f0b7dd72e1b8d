"""Episodes for Cynex, a viewer of network trajectories: its format 2.0, which holds true states.

CAGE-2 as simulated here has no addresses, so each subnet and host gets one that only stands for its name. The scores of
confidentiality, integrity and availability that Cynex can draw are of its authors' own making, and left out.
"""

from typing import Any

from garrison.cage2.names import Access
from garrison.episodes.episode import Episode

BLUE, RED = "Blue", "Red"
_STATUS = {1: "TRUE", 0: "FALSE", -1: "UNKNOWN"}


def to_cynex(episode: Episode) -> dict[str, Any]:
    """Return the episode as Cynex reads it."""
    names, network, turn = episode.names, episode.network, episode.turn
    blue = [
        _blue_action(t, names["actions"][action], success)
        for t, (action, success) in enumerate(zip(turn["blue_action"], turn["blue_success"], strict=True))
    ]
    red = [_red_action(episode, t) for t in range(episode.length)]
    subnets = {name: f"10.0.{s}.0" for s, name in enumerate(names["subnets"])}
    links: dict[str, list[str]] = {name: [] for name in subnets}
    for one, other in network["links"]:
        links[one].append(other)
        links[other].append(one)
    return {
        "format_version": "2.0",
        "challenge": "CC2",
        "episode": 0,
        "seed": episode.seed,
        "total_steps": episode.length,
        "experiment_time": f"garrison {episode.garrison}",
        "blue_agents": [BLUE],
        "red_agents": [RED],
        "green_agents": [],
        "blue_agent_name": episode.agent["name"],
        "red_agent_name": episode.red,
        "network_topology": {
            host: _host(episode, h, f"10.0.{network['subnet'][h]}") for h, host in enumerate(names["hosts"])
        },
        "subnet_metadata": {
            name: {
                "label": f"Subnet ({name})",
                "network_address": address,
                "netmask": "255.255.255.0",
                "nacl_connections": links[name],
            }
            for name, address in subnets.items()
        },
        "agent_actions": {BLUE: blue, RED: red},
        "blue_actions": blue,
        "red_actions": red,
        "step_states": [_state(episode, t) for t in range(episode.length)],
        "metric_scores": [],
    }


def _blue_action(t: int, name: str, success: int) -> dict[str, Any]:
    kind, _, host = name.partition(" ")
    return {"step": t, "Action": kind, "Status": _STATUS[success], "Host": host or kind, "Params": {}}


def _red_action(episode: Episode, t: int) -> dict[str, Any]:
    names, turn = episode.names, episode.turn
    kind, target = names["red_actions"][turn["red_kind"][t]], turn["red_target"][t]
    action = {"step": t, "Action": kind, "Status": _STATUS[turn["red_success"][t]], "Host": kind, "Params": {}}
    if kind == "DiscoverRemoteSystems":
        return action | {"Params": {"Subnet": names["subnets"][target]}}
    if target >= 0:
        action["Host"] = names["hosts"][target]
    if turn["red_exploit"][t] >= 0:
        action["Params"] = {"Exploit": names["exploits"][turn["red_exploit"][t]], "Decoy": bool(turn["caught"][t])}
    return action


def _host(episode: Episode, h: int, subnet: str) -> dict[str, Any]:
    is_windows, is_foothold = episode.network["windows"][h], h == episode.network["foothold"]
    session = {"Username": "SYSTEM", "ID": 0, "Timeout": 0, "PID": 1, "Type": "RED_ABSTRACT_SESSION", "Agent": RED}
    return {
        "Interface": [
            {
                "Interface Name": "eth0",
                "IP Address": f"{subnet}.{h + 1}",
                "Subnet": {"network_address": f"{subnet}.0", "netmask": "255.255.255.0", "_prefixlen": 24},
            }
        ],
        "Sessions": [session] if is_foothold else [],
        "Processes": [],
        "User Info": [],
        "System info": {
            "Hostname": episode.names["hosts"][h],
            "OSType": "WINDOWS" if is_windows else "LINUX",
            "OSDistribution": "WINDOWS_SVR_2008" if is_windows else "UBUNTU",
            "OSVersion": "W6_1_7601" if is_windows else "U18_04_3",
            "Architecture": "x64",
        },
    }


def _state(episode: Episode, t: int) -> dict[str, Any]:
    """Return the state after step t."""
    reward, total = episode.turn["reward"][t], episode.state["total"][t + 1]
    levels = [name.upper() for name in Access._fields]
    return {
        "step": t,
        "mission_phase": 0,
        "host_compromise": {
            host: levels[access]
            for host, access in zip(episode.names["hosts"], episode.state["access"][t + 1], strict=True)
        },
        "rewards": {BLUE: reward, RED: -reward + 0.0},
        "cumulative_reward": {BLUE: total, RED: -total + 0.0},
    }
