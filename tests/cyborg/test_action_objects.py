"""Actions as objects: constructors, parameters and texts are what wrappers and scripts read."""

import copy
import inspect
from ipaddress import IPv4Address, IPv4Network

import pytest

from garrison.cage2.names import ACTIONS
from garrison.cyborg import action_base, blue_actions, green_actions, red_actions
from garrison.cyborg.action_base import Action, InvalidAction, ShellSleep, Sleep
from garrison.cyborg.action_space import ActionSpace
from garrison.cyborg.blue_actions import BLUE_ACTIONS, DecoyApache, Monitor, Restore, blue_action, blue_index
from garrison.cyborg.image_facts import BLUE, RED
from garrison.cyborg.red_actions import RED_ACTIONS, ExploitRemoteService, SSHBruteForce

HERE, NET = IPv4Address("10.0.1.2"), IPv4Network("10.0.1.0/28")

PARAMETERS = {
    "Sleep": "",
    "InvalidAction": "action",
    "Monitor": "session agent",
    "DiscoverRemoteSystems": "session agent subnet",
    "DiscoverNetworkServices": "session agent ip_address",
    "ExploitRemoteService": "session agent ip_address priority",
    "SSHBruteForce": "ip_address agent session target_session",
    "GreenPingSweep": "session agent subnet",
    "ShellSleep": "session agent t",
}
"""Where they are neither a host's nor an exploit's."""


@pytest.mark.parametrize(
    "action", [*BLUE_ACTIONS, *RED_ACTIONS, *green_actions.GREEN_ACTIONS, InvalidAction, ShellSleep]
)
def test_constructors_take_the_originals_parameters_in_its_order(action: type[Action]) -> None:
    exploit = issubclass(action, red_actions.ExploitAction)
    usual = "session agent ip_address target_session" if exploit else "session agent hostname"
    expected = PARAMETERS.get(action.__name__, usual).split()
    assert list(inspect.signature(action).parameters) == expected


def test_decoys_take_keywords_only() -> None:
    with pytest.raises(TypeError):
        DecoyApache(0, BLUE, "User1")  # type: ignore[misc]


def test_attributes_come_in_the_originals_order() -> None:
    assert list(blue_action(2).get_params()) == ["agent", "session", "hostname"]
    decoy = DecoyApache(session=0, agent=BLUE, hostname="User1")
    assert list(decoy.get_params()) == ["agent", "session", "hostname", "decoy_type", "candidate_decoys"]
    exploit = ExploitRemoteService(0, RED, HERE)
    assert list(exploit.get_params()) == ["ip_address", "agent", "session", "exploit_action_selector", "priority"]
    guess = SSHBruteForce(HERE, RED, 0, 0)
    assert list(guess.get_params()) == ["agent", "session", "state", "ip_address", "target_session", "detection_rate"]


def test_texts_name_the_target() -> None:
    assert str(red_actions.DiscoverRemoteSystems(0, RED, NET)) == "DiscoverRemoteSystems 10.0.1.0/28"
    assert str(ExploitRemoteService(0, RED, HERE)) == "ExploitRemoteService 10.0.1.2"
    assert str(SSHBruteForce(HERE, RED, 0, 0)) == "SSHBruteForce"
    assert str(InvalidAction(Monitor(0, BLUE))) == "InvalidAction"
    assert str(ShellSleep(session=0)) == "ShellSleep: Session=0"


def test_every_number_is_an_action_and_back() -> None:
    assert [str(blue_action(a)) for a in range(len(ACTIONS))] == [row.name for row in ACTIONS]
    assert [blue_index(blue_action(a)) for a in range(len(ACTIONS))] == list(range(len(ACTIONS)))


def test_prices() -> None:
    assert (Restore(0, BLUE, "User1").cost, InvalidAction(Sleep()).cost, Sleep().cost) == (-1, -0.1, 0)


def test_equal_actions_are_one_object_and_copies_can_be_made() -> None:
    action = ExploitRemoteService(0, RED, HERE)
    assert action != ExploitRemoteService(0, RED, HERE)
    assert str(copy.deepcopy(action)) == str(action)


def test_an_action_space_asks_for_the_class_itself_and_known_values() -> None:
    space = ActionSpace(BLUE_ACTIONS, BLUE, [])
    space.update({"User1": {"System info": {"Hostname": "User1"}}}, known=False)
    space.server_session[0] = True
    like = type("Restore", (Restore,), {})
    assert not space.allows(Restore(0, BLUE, "User1"))
    space.update({"User1": {"System info": {"Hostname": "User1"}}})
    assert space.allows(Restore(0, BLUE, "User1"))
    assert not space.allows(like(0, BLUE, "User1"))


def test_no_two_modules_define_one_action() -> None:
    modules = (action_base, blue_actions, red_actions, green_actions)
    names = [
        name
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Action) and value.__module__ == module.__name__
    ]
    assert len(names) == len(set(names))
