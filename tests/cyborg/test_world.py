"""The world's books on their own: what games reach too seldom to wait for."""

from collections.abc import Sequence
from ipaddress import IPv4Address

import pytest

from garrison.cage2.names import ACTIONS, DECOYS, HOSTS, RULES, RedKind
from garrison.cyborg.blue_answers import blue_answer, monitor
from garrison.cyborg.cyborg_enums import ProcessVersion, SessionType, TrinaryEnum
from garrison.cyborg.episode_addresses import EpisodeAddresses
from garrison.cyborg.image_facts import RED
from garrison.cyborg.red_answers import RedTurn, red_answer
from garrison.cyborg.true_view import INFO, true_state, within_network
from garrison.cyborg.world import NetworkHost, World

STRAY = 11 * 256 + 88
"""Where a socket of Defender's image is bound, as an offset from 10.0.0.0."""


def new_world(rules: str = "head", defender: int = 1) -> World:
    """Return a world whose hosts have the first addresses of three subnets."""
    offsets = [defender, 2, 3, 4, *range(17, 21), *range(33, 38)]
    return World(EpisodeAddresses(offsets, [0, 16, 32]), range(2001, 2024), rules)


def host_of(world: World, name: str) -> NetworkHost:
    return world.hosts[HOSTS.index(name)]


def remove(world: World, name: str, drawn: Sequence[int] = ()) -> None:
    number = next(row.id for row in ACTIONS if row.name == f"Remove {name}")
    left = iter(drawn)
    blue_answer(world, number, TrinaryEnum.TRUE, False, left)
    assert list(left) == []


@pytest.mark.parametrize("rules", RULES)
def test_a_decoy_with_a_reported_id_is_started_again_once(rules: str) -> None:
    world = new_world(rules)
    host = host_of(world, "Op_Host0")
    host.place_decoy(DECOYS.index("DecoyHarakaSMPT"), 500)
    host.reported = [500]
    remove(world, "Op_Host0", drawn=[600])
    again = host.processes[-1]
    assert (again.pid, again.name, again.listening) == (600, "haraka", [25])
    assert again.version is (ProcessVersion.HARAKA_2_7_0 if rules == "head" else ProcessVersion.UNKNOWN)
    assert host.services == {"haraka": 500}
    host.reported.append(600)  # the new id too was once reported: nothing registers it
    remove(world, "Op_Host0")
    assert host.process(600) is None


def test_reports_are_worked_through_in_their_order() -> None:
    world = new_world()
    host = host_of(world, "User3")
    answer = {"success": TrinaryEnum.TRUE}
    connection = {"local_port": 50000, "remote_port": 4444}
    monitor(host, [{"PID": 5, "Connections": [connection]}], answer)
    monitor(host, [{"Connections": [connection]}, {"PID": 4, "Connections": [connection]}], answer)
    assert host.reported == [5, 4]
    assert [event.get("PID") for event in answer["User3"]["Processes"]] == [5, None, 4]  # type: ignore[index]


def test_remove_spares_what_runs_as_system() -> None:
    world = new_world()
    host = host_of(world, "Enterprise1")
    host.place_decoy(DECOYS.index("DecoyFemitter"), 500)
    host.reported = [500]
    remove(world, "Enterprise1")
    assert host.process(500) is not None


def test_a_process_ends_with_its_session() -> None:
    world = new_world()
    host = host_of(world, "User3")
    shell = host.start_shell(700, "www-data")
    world.add_red_session(host, "www-data", 700, SessionType.RED_REVERSE_SHELL)
    assert [session.ident for session in host.sessions[RED]] == [1]
    host.stop(shell)
    assert host.sessions[RED] == []
    assert world.add_red_session(host, "www-data", 701, SessionType.SSH).ident == 2


def test_a_second_impact_spares_whoever_has_the_services_old_id() -> None:
    world = new_world()
    host = host_of(world, "Op_Server0")
    stop = RedTurn(RedKind.IMPACT, host.id, -1, TrinaryEnum.TRUE, False, 0, False, -1)
    red_answer(world, stop, iter(()))
    assert host.process(1043) is None
    host.start_shell(1043, "root")
    red_answer(world, stop, iter(()))
    assert host.process(1043) is not None


def test_the_stray_socket_is_shown_where_its_address_belongs_to_somebody() -> None:
    usual, lucky = new_world(), new_world(defender=STRAY)
    for world, has_it in ((usual, False), (lucky, True)):
        entry = within_network(world, true_state(world, INFO["True"]))["Defender"]
        assert ("systemd-networkd" in {process["Process Name"] for process in entry["Processes"]}) is has_it
        assert [item["Interface Name"] for item in entry["Interface"]] == ["eth0"]
    raw = true_state(lucky, INFO["True"])["Defender"]["Interface"]
    assert [item["IP Address"] for item in raw].count(IPv4Address("10.0.11.88")) == 1


def test_only_the_parts_that_are_named_are_shown() -> None:
    world = new_world()
    shown = true_state(world, {"User1": {"Processes": "All"}, "User2": {"Interfaces": "IP Address"}, "User3": {}})
    assert list(shown) == ["success", "User1", "User2"]
    assert list(shown["User1"]) == ["Processes"]
    assert shown["User2"] == {"Interface": [{"IP Address": world.network.addresses[HOSTS.index("User2")]}]}
    with pytest.raises(NotImplementedError, match="'Some'"):
        true_state(world, {"User1": {"Interfaces": "Some"}})
