"""What actions tell: dicts, literally, as the original shows them."""

from collections.abc import Iterator
from typing import Any

import pytest

from garrison.cage2.names import HOSTS, RULES
from garrison.cyborg.blue_actions import Analyse, DecoyApache, DecoyFemitter, Remove, Restore
from garrison.cyborg.controller import Controller
from garrison.cyborg.cyborg_enums import (
    Architecture,
    FileType,
    OperatingSystemDistribution,
    OperatingSystemType,
    OperatingSystemVersion,
    Path,
    ProcessState,
    ProcessType,
    ProcessVersion,
    SessionType,
    TrinaryEnum,
)
from garrison.cyborg.image_facts import BLUE, RED
from garrison.cyborg.red_actions import (
    HTTPRFI,
    DiscoverNetworkServices,
    DiscoverRemoteSystems,
    ExploitRemoteService,
    FTPDirectoryTraversal,
    HarakaRCE,
    Impact,
    PrivilegeEscalate,
    SSHBruteForce,
)
from tests.helpers.cyborg_games import address, kept_generator, new_game, sweep

pytestmark = pytest.mark.slow

TRUE, FALSE = TrinaryEnum.TRUE, TrinaryEnum.FALSE
LINUX = {
    "OSType": OperatingSystemType.LINUX,
    "OSDistribution": OperatingSystemDistribution.UBUNTU,
    "OSVersion": OperatingSystemVersion.U18_04_3,
    "Architecture": Architecture.x64,
}


@pytest.fixture(autouse=True)
def _own_draws() -> Iterator[None]:
    with kept_generator():
        yield


def red_sessions(game: Controller, name: str) -> list[dict[str, Any]]:
    """Return Red's sessions on a host, as the true state shows them."""
    sessions: list[dict[str, Any]] = game.get_agent_state("True").data[name]["Sessions"]
    return [session for session in sessions if session["Agent"] == RED]


def processes(game: Controller, name: str) -> list[dict[str, Any]]:
    """Return a host's processes, as the true state shows them."""
    listed: list[dict[str, Any]] = game.get_agent_state("True").data[name]["Processes"]
    return listed


def test_blue_first_sees_every_host_with_its_own_sessions() -> None:
    game = new_game(3)
    told = game.reset(BLUE).observation
    assert list(told) == ["success", *HOSTS]
    user = told["User3"]
    pid = user["Sessions"][0]["PID"]
    assert user == {
        "Interface": [
            {"Interface Name": "eth0", "IP Address": address(game, "User3"), "Subnet": game.network.subnets[2]}
        ],
        "Sessions": [
            {
                "Username": "ubuntu",
                "ID": 4,
                "Timeout": 0,
                "PID": pid,
                "Type": SessionType.VELOCIRAPTOR_CLIENT,
                "Agent": BLUE,
            }
        ],
        "Processes": [{"PID": pid, "Username": "ubuntu"}],
        "User Info": [
            {"Username": "root", "Groups": [{"GID": 0}]},
            {"Username": "www-data", "Groups": [{"GID": 33}]},
            {"Username": "pi", "Password": "raspberry", "Groups": [{"GID": 1001}]},
            {"Username": "ubuntu", "Groups": [{"GID": 1000}]},
            {"Username": "GreenAgent", "Groups": [{"GID": 1001}]},
        ],
        "System info": {"Hostname": "User3", **LINUX},
    }
    assert list(user) == ["Interface", "Sessions", "Processes", "User Info", "System info"]


def test_red_first_sees_only_its_foothold() -> None:
    told = new_game(3).reset(RED).observation
    assert list(told) == ["success", "User0"]
    assert [session["Type"] for session in told["User0"]["Sessions"]] == [SessionType.RED_ABSTRACT_SESSION]


def test_a_process_with_two_entries_is_shown_once_behind_what_lies_between() -> None:
    listed = processes(new_game(), "User3")
    assert [process["PID"] for process in listed[:3]] == [1101, 1100, 1102]
    assert [socket["local_port"] for socket in listed[1]["Connections"]] == [80, 443]


def test_addresses_outside_the_network_are_shown_only_unfiltered() -> None:
    game = new_game()
    raw = game.get_agent_state("True").data["Defender"]
    filtered = game.reset().observation["Defender"]
    assert [str(item["IP Address"]) for item in raw["Interface"][:3]] == ["127.0.0.53", "10.0.11.88", "127.0.0.1"]
    assert [item["IP Address"] for item in filtered["Interface"]] == [address(game, "Defender")]
    assert len(processes(game, "Defender")) - len(filtered["Processes"]) == 2


def test_a_decoy_is_told_when_it_is_accepted() -> None:
    game = new_game()
    told = game.step(BLUE, DecoyApache(session=0, agent=BLUE, hostname="User1")).observation
    pid = told["User1"]["Processes"][0]["PID"]
    entry = {"PID": pid, "PPID": 1, "Service Name": "apache2", "Username": "ubuntu", "Properties": ["rfi"]}
    assert told == {"success": TRUE, "User1": {"Processes": [entry]}}
    placed = processes(game, "User1")
    assert [(item["Process Name"], item["Username"]) for item in placed if item["PID"] == pid] == [
        ("apache2", "ubuntu")
    ]
    sessions = [session["PID"] for session in game.get_agent_state("True").data["User1"]["Sessions"]]
    assert [process["PID"] for process in processes(game, "User1")] == [3368, 3344, pid, *sessions]
    again = game.step(BLUE, DecoyApache(session=0, agent=BLUE, hostname="User1")).observation
    assert again == {"success": FALSE}
    femitter = game.step(BLUE, DecoyFemitter(session=0, agent=BLUE, hostname="Enterprise1")).observation
    assert femitter["Enterprise1"]["Processes"][0]["Username"] == "SYSTEM"


def test_a_sweep_and_a_scan_tell_red_and_only_the_scan_tells_blue() -> None:
    game = new_game()
    told = game.step(RED, DiscoverRemoteSystems(0, RED, game.network.subnets[2])).observation
    users = [address(game, f"User{i}") for i in range(5)]
    assert list(told) == ["success", *map(str, users)]
    assert told[str(users[2])] == {"Interface": [{"IP Address": users[2], "Subnet": game.network.subnets[2]}]}
    assert game.get_last_observation(BLUE).data == {"success": TrinaryEnum.UNKNOWN}
    told = game.step(RED, DiscoverNetworkServices(0, RED, users[1])).observation
    sockets = [{"Connections": [{"local_port": port, "local_address": users[1]}]} for port in (22, 21)]
    assert told == {"success": TRUE, str(users[1]): {"Processes": sockets, "Interface": [{"IP Address": users[1]}]}}
    seen = game.get_last_observation(BLUE).data["User1"]
    assert list(seen) == ["Processes", "Interface", "System info"]
    connections = [process["Connections"][0] for process in seen["Processes"]]
    assert [(item["local_port"], item["remote_address"]) for item in connections] == [(22, users[0]), (21, users[0])]
    assert all(49152 <= item["remote_port"] < 60000 for item in connections)


def taken(seed: int) -> tuple[Controller, dict[str, Any]]:
    """Return a game in which Red took User1 by a reverse shell, and what Blue saw of it."""
    game = new_game(seed)
    sweep(game)
    game.step(RED, FTPDirectoryTraversal(0, RED, address(game, "User1"), 0))
    return game, game.get_last_observation(BLUE).data["User1"]


def test_a_reverse_shell_is_reported_with_its_process_if_it_is_detected() -> None:
    detected, hidden = 0, 0
    for seed in range(60):
        game, seen = taken(seed)
        shell = red_sessions(game, "User1")[0]
        assert (shell["Username"], shell["Type"], shell["ID"]) == ("SYSTEM", SessionType.RED_REVERSE_SHELL, 1)
        if len(seen["Processes"]) == 2:
            detected += 1
            assert seen["Processes"][1]["PID"] == shell["PID"]
            assert seen["Processes"][1]["Connections"][0]["remote_port"] == 4444
            assert game.get_action_space(BLUE)["process"][shell["PID"]]
        else:
            hidden += 1
            assert len(seen["Processes"]) == 1
    assert detected > hidden > 0


def test_red_is_told_both_ends_of_its_shell() -> None:
    game, _ = taken(0)
    told = game.get_last_observation(RED).data
    here, there = address(game, "User0"), address(game, "User1")
    assert list(told) == ["success", str(here), str(there)]
    assert [item["Process Type"] for item in told[str(here)]["Processes"]] == [ProcessType.REVERSE_SESSION_HANDLER]
    ftp = {"local_port": 21, "local_address": there, "Status": ProcessState.OPEN}
    far = told[str(there)]
    assert far["Processes"][1] == {"Connections": [ftp], "Process Type": ProcessType.FEMITTER}
    assert far["Sessions"] == [{"ID": 1, "Type": SessionType.RED_REVERSE_SHELL, "Agent": RED}]
    assert far["System info"] == {"Hostname": "User1", "OSType": OperatingSystemType.WINDOWS}
    assert list(far) == ["Processes", "Interface", "Sessions", "System info"]


def test_a_decoy_that_is_hit_answers_red_from_a_place_without_a_name() -> None:
    game = new_game()
    game.step(BLUE, DecoyApache(session=0, agent=BLUE, hostname="User1"))
    sweep(game)
    target = address(game, "User1")
    told = game.step(RED, HTTPRFI(0, RED, target, 0)).observation
    assert list(told) == ["success", "1", str(target)]
    assert told["success"] is FALSE
    events = game.get_last_observation(BLUE).data["User1"]["Processes"]
    assert [len(event["Connections"][0]) for event in events] == [4, 3]


def test_ssh_tries_ten_passwords_and_logs_in_as_the_weak_account() -> None:
    game = new_game()
    sweep(game)
    told = game.step(RED, SSHBruteForce(address(game, "User4"), RED, 0, 0)).observation
    far = told[str(address(game, "User4"))]
    assert far["User Info"] == [{"Username": "pi", "UID": 1001, "Password": "raspberry"}]
    assert far["Sessions"] == [{"Username": "pi", "ID": 1, "Type": SessionType.SSH, "Agent": RED}]
    assert len(game.get_last_observation(BLUE).data["User4"]["Processes"]) == 11
    login = processes(game, "User4")[-1]
    assert (login["Process Name"], login["PPID"], login["Path"]) == ("sshd", 1091, "/usr/sbin")


def user_shell(game: Controller) -> int:
    """Let Red take User3 as www-data, detected, and return the shell's process id."""
    sweep(game)
    while True:
        game.step(RED, HTTPRFI(0, RED, address(game, "User3"), 0))
        pids = [item["PID"] for item in game.get_last_observation(BLUE).data["User3"]["Processes"] if "PID" in item]
        if pids:
            return int(pids[0])


def test_remove_stops_a_reported_shell_and_leaves_its_file() -> None:
    game = new_game()
    pid = user_shell(game)
    assert pid in [session["PID"] for session in red_sessions(game, "User3")]
    game.step(BLUE, Remove(0, BLUE, "User3"))
    assert pid not in [session["PID"] for session in red_sessions(game, "User3")]
    assert pid not in [process["PID"] for process in processes(game, "User3")]
    files = game.step(BLUE, Analyse(0, BLUE, "User3")).observation["User3"]["Files"]
    assert files == [
        {
            "Path": "/tmp/",
            "Known Path": Path.TEMP,
            "File Name": "cmd.sh",
            "Known File": FileType.UNKNOWN,
            "Density": 0.9,
            "Signed": False,
        }
    ]


@pytest.mark.parametrize("rules", RULES)
def test_restore_returns_to_the_image_and_in_old_rules_forgets_versions(rules: str) -> None:
    game = new_game(rules=rules)
    fresh = processes(game, "User3")
    user_shell(game)
    game.step(BLUE, Restore(0, BLUE, "User3"))
    assert red_sessions(game, "User3") == []
    assert game.step(BLUE, Analyse(0, BLUE, "User3")).observation == {"success": TRUE}
    restored = processes(game, "User3")
    forgotten = [item for item in restored if item not in fresh]
    if rules == "head":
        assert forgotten == []
    else:
        assert [(item["PID"], item["Process Version"]) for item in forgotten] == [(1102, ProcessVersion.UNKNOWN)]
        told = game.step(RED, HarakaRCE(0, RED, address(game, "User3"), 0)).observation
        assert list(told)[:2] == ["success", "1"]


def test_escalation_lifts_a_session_and_tells_of_the_next_host() -> None:
    game = new_game()
    sweep(game)
    target = address(game, "User3")
    game.step(RED, DiscoverNetworkServices(0, RED, target))
    while True:
        tried = game.step(RED, ExploitRemoteService(0, RED, target, priority=HTTPRFI))
        if tried.observation["success"] == TRUE:
            break
    told = game.step(RED, PrivilegeEscalate(0, RED, "User3")).observation
    assert list(told) == ["success", "User3", "Enterprise0"]
    session = {"Username": "root", "ID": 1, "Type": SessionType.RED_REVERSE_SHELL, "Agent": RED}
    assert told["User3"]["Sessions"] == [session]
    assert told["Enterprise0"] == {"Interface": [{"IP Address": address(game, "Enterprise0")}]}
    again = game.step(RED, PrivilegeEscalate(0, RED, "User3")).observation["User3"]
    assert list(again) == ["Sessions", "Processes", "Interface"]
    assert game.step(RED, Impact(0, RED, "User3")).observation == {"success": FALSE}
    files = game.step(BLUE, Analyse(0, BLUE, "User3")).observation["User3"]["Files"]
    assert [file["File Name"] for file in files] == ["cmd.sh", "escalate.sh"]


def test_the_operational_service_is_told_stopped_and_restored() -> None:
    game = new_game()
    sweep(game)

    def take(name: str) -> dict[str, Any]:
        target = address(game, name)
        game.step(RED, DiscoverNetworkServices(0, RED, target))
        while game.step(RED, ExploitRemoteService(0, RED, target)).observation["success"] != TRUE:
            pass
        told: dict[str, Any] = game.step(RED, PrivilegeEscalate(0, RED, name)).observation
        return told

    take("User1")
    take("Enterprise1")
    game.step(RED, DiscoverRemoteSystems(0, RED, game.network.subnets[0]))
    assert list(take("Enterprise2")) == ["success", "Enterprise2", "Op_Server0"]
    service = {"PID": 1043, "Service Name": "OTService"}
    assert service in take("Op_Server0")["Op_Server0"]["Processes"]
    assert game.step(RED, Impact(0, RED, "Op_Server0")).observation == {"success": TRUE}
    assert "OTService" not in [process["Process Name"] for process in processes(game, "Op_Server0")]
    assert game.get_reward_breakdown(BLUE)["Op_Server0"] == (-1.0, -10.0)
    assert game.reward == {BLUE: -13.1, "Green": 0.0, RED: 13.1}
    game.step(BLUE, Restore(0, BLUE, "Op_Server0"))
    assert "OTService" in [process["Process Name"] for process in processes(game, "Op_Server0")]
    shown = game.get_true_state({"Op_Server0": {"Services": ["OTService"]}}).data
    assert shown["Op_Server0"] == {"Processes": [{"Service Name": "OTService"}]}
