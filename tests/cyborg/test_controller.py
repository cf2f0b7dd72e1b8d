"""The order of a step, who is asked and told when, and that looking late shows the same as looking at once."""

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from garrison.cage2.names import ACTIONS, HOSTS, RULES
from garrison.cyborg import controller
from garrison.cyborg.action_base import Action, InvalidAction, Sleep
from garrison.cyborg.blue_actions import Analyse, DecoyApache, Misinform, Monitor, Remove, Restore, blue_action
from garrison.cyborg.controller import Controller
from garrison.cyborg.cyborg_enums import TrinaryEnum
from garrison.cyborg.image_facts import AGENTS, BLUE, GREEN, RED
from garrison.cyborg.red_actions import (
    HTTPRFI,
    DiscoverNetworkServices,
    DiscoverRemoteSystems,
    EternalBlue,
    ExploitRemoteService,
    FTPDirectoryTraversal,
    Impact,
    PrivilegeEscalate,
    SSHBruteForce,
)
from garrison.cyborg.refusal import NotInGarrison
from garrison.cyborg.rewards import HostReward
from garrison.errors import GarrisonError
from tests.helpers.cyborg_games import Line, Sleeper, Wanderer, address, kept_generator, new_game, noted, sweep

pytestmark = pytest.mark.slow

UNKNOWN, TRUE, FALSE = TrinaryEnum.UNKNOWN, TrinaryEnum.TRUE, TrinaryEnum.FALSE


@pytest.fixture(autouse=True)
def _own_draws() -> Iterator[None]:
    with kept_generator():
        yield


def everything(game: Controller) -> dict[str, Any]:
    """Return all that can be asked of a game."""
    told = {
        name: (
            game.get_last_observation(name).data,
            {part: list(values.items()) for part, values in game.get_action_space(name).items()},
            str(game.get_last_action(name)),
        )
        for name in AGENTS
    }
    states = {name: game.get_agent_state(name).data for name in ("True", *AGENTS)}
    return {"told": told, "states": states, "rewards": game.reward, "addresses": list(game.hostname_ip_map.items())}


def numbers(seed: int, count: int) -> list[int]:
    """Return Blue's choices for a test, from a generator of their own."""
    return random.Random(seed).choices(range(len(ACTIONS)), k=count)


# --- who is asked and told


def test_a_step_asks_blue_before_red_and_teaches_both_what_they_were_told() -> None:
    blue, red = noted(Monitor(0, BLUE)), noted(Sleep())
    game = new_game(Blue=blue, Red=red)
    game.reset()
    game.step()
    assert [call for call, _ in blue.calls] == ["made", "values", "ended", "asked", "trained"]
    assert [call for call, _ in red.calls] == ["made", "values", "ended", "asked", "trained"]
    lesson = blue.calls[-1][1]
    assert lesson.observation["User1"]["System info"]["Hostname"] == "User1"
    assert lesson.next_observation == {"success": TRUE}
    assert (lesson.reward, lesson.done, str(lesson.action)) == (0.0, False, "Monitor")
    assert list(red.calls[-2][1]) == ["success", "User0"]


def test_the_agent_that_steps_is_neither_asked_nor_taught() -> None:
    blue = noted()
    game = new_game(Blue=blue)
    game.step(BLUE, Monitor(0, BLUE))
    assert [call for call, _ in blue.calls] == ["made", "values"]
    game.step(BLUE)
    assert [call for call, _ in blue.calls] == ["made", "values", "asked"]


def test_a_lesson_has_no_events_yet_and_the_observation_has_them() -> None:
    blue = noted(Sleep(), Sleep())
    game = new_game(Blue=blue)
    game.reset(RED)
    sweep(game)
    seen: list[list[str]] = []
    blue.train = lambda self, results: seen.append(list(results.next_observation))
    game.step(RED, DiscoverNetworkServices(0, RED, address(game, "User1")))
    assert seen == [["success"]]
    assert list(game.get_last_observation(BLUE).data) == ["success", "User1"]


def test_an_agent_inside_draws_between_blue_and_red() -> None:
    def play(*, acts: bool) -> None:
        def drawing(agent: Any, observation: Any, space: Any) -> Action:
            drawn.append(random.getrandbits(32))
            return Sleep()

        red = noted()
        red.get_action = drawing
        game = new_game(Red=red)
        if acts:
            game.step(BLUE, DecoyApache(session=0, agent=BLUE, hostname="User1"))
        else:
            game.step(BLUE, Sleep())

    drawn: list[int] = []
    play(acts=False)
    play(acts=True)
    new_game()
    after_blue = random.getrandbits(32)
    assert drawn[0] == after_blue
    assert drawn[1] != after_blue


def test_start_plays_ends_the_episode_and_needs_a_reset() -> None:
    blue = noted()
    game = new_game(Blue=blue)
    assert game.start(3) is False
    assert [call for call, _ in blue.calls[-2:]] == ["ended", "ended"]
    assert game.get_action_space(BLUE)["session"] == {}
    with pytest.raises(GarrisonError, match=r"reset\(\)"):
        game.step()
    game.reset()
    game.step()


def test_without_an_agent_a_step_returns_the_true_state() -> None:
    game = new_game()
    results = game.step()
    assert list(results.observation) == ["success", *HOSTS]
    assert (results.reward, results.action, results.action_space) == (None, None, None)


# --- valid and invalid


@pytest.mark.parametrize(
    "action",
    [
        Analyse(1, BLUE, "User1"),
        Analyse(0, RED, "User1"),
        Analyse(0, BLUE, "Nowhere"),
        Misinform(session=0, agent=BLUE, hostname="User1"),
        Impact(0, BLUE, "User1"),
    ],
)
def test_what_is_not_in_the_action_space_does_nothing_and_costs(action: Action) -> None:
    game = new_game()
    before = game.get_agent_state("True").data
    results = game.step(BLUE, action)
    assert isinstance(results.action, InvalidAction)
    assert results.action.action is action
    assert (results.reward, results.observation) == (-0.1, {"success": FALSE})
    assert game.get_agent_state("True").data == before


def test_red_may_only_name_what_it_knows() -> None:
    game = new_game()
    scan = DiscoverNetworkServices(0, RED, address(game, "User1"))
    assert game.step(RED, scan).reward == -0.1
    sweep(game)
    assert game.step(RED, scan).observation["success"] is TRUE
    assert isinstance(game.step(RED, PrivilegeEscalate(0, RED, "User1")).action, InvalidAction)


def test_an_unchecked_action_must_be_valid_all_the_same() -> None:
    game = new_game()
    game.step(BLUE, Analyse(0, BLUE, "User1"), skip_valid_action_check=True)
    with pytest.raises(NotInGarrison, match="skip_valid_action_check with Analyse Nowhere"):
        game.step(BLUE, Analyse(0, BLUE, "Nowhere"), skip_valid_action_check=True)


def test_escalating_where_only_a_concrete_exploit_was_fails_as_in_the_original() -> None:
    game = new_game()
    sweep(game)
    game.step(RED, SSHBruteForce(address(game, "User1"), RED, 0, 0))
    before = (game.reward, game.get_reward_breakdown(BLUE), game.get_last_observation(RED).data)
    with pytest.raises(KeyError, match="User1"):
        game.step(RED, PrivilegeEscalate(0, RED, "User1"))
    assert (game.reward, game.get_reward_breakdown(BLUE), game.get_last_observation(RED).data) == before
    game.step(RED, DiscoverNetworkServices(0, RED, address(game, "User1")))
    while game.step(RED, ExploitRemoteService(0, RED, address(game, "User1"))).observation["success"] != TRUE:
        pass
    assert game.step(RED, PrivilegeEscalate(0, RED, "User1")).observation["success"] is TRUE


def test_a_step_that_fails_leaves_the_last_rewards_and_keeps_what_blue_did() -> None:
    blue = noted()
    game = new_game(Blue=blue)
    sweep(game)
    while game.get_reward_breakdown(RED)["User2"].confidentiality == 0:
        game.step(RED, EternalBlue(0, RED, address(game, "User2"), 0))
    blue.plays = iter([Sleep(), Restore(0, BLUE, "User2")])
    game.step(RED, SSHBruteForce(address(game, "User1"), RED, 0, 0))
    rewards = dict(game.reward)
    with pytest.raises(KeyError, match="User1"):
        game.step(RED, PrivilegeEscalate(0, RED, "User1"))
    assert (game.reward, game.get_reward_breakdown(RED)["User2"]) == (rewards, HostReward(0.1, 0))
    assert RED not in {session["Agent"] for session in game.get_agent_state("True").data["User2"]["Sessions"]}


def test_what_blue_did_remains_done_when_reds_agent_fails() -> None:
    def failing(agent: Any, observation: Any, space: Any) -> Action:
        raise RuntimeError("no idea")

    red = noted()
    red.get_action = failing
    game = new_game(Red=red)
    with pytest.raises(RuntimeError, match="no idea"):
        game.step(BLUE, DecoyApache(session=0, agent=BLUE, hostname="User1"))
    assert "apache2" in {process["Process Name"] for process in game.get_agent_state("True").data["User1"]["Processes"]}


def test_a_priority_decides_which_exploit_is_tried() -> None:
    game = new_game()
    sweep(game)
    target = address(game, "User3")
    game.step(RED, DiscoverNetworkServices(0, RED, target))
    for _ in range(5):
        tried = game.step(RED, ExploitRemoteService(0, RED, target, priority=HTTPRFI)).action
        assert type(tried.sub_action) is HTTPRFI


def test_a_priority_draws_the_other_choice_all_the_same() -> None:
    for seed in range(5):  # the same number of words may be drawn by chance
        game = new_game(seed)
        sweep(game)
        target = address(game, "User3")
        game.step(RED, DiscoverNetworkServices(0, RED, target))
        twin, before = deepcopy(game), random.getstate()
        told = game.step(RED, ExploitRemoteService(0, RED, target, priority=HTTPRFI)).observation
        after = random.getstate()
        random.setstate(before)
        random.random()
        assert twin.step(RED, HTTPRFI(0, RED, target, 0)).observation == told
        assert random.getstate() == after


# --- rewards


def test_a_restore_costs_blue_and_red_earns_what_it_holds() -> None:
    game = new_game()
    sweep(game)
    game.step(RED, FTPDirectoryTraversal(0, RED, address(game, "User1"), 0))
    assert game.reward == {BLUE: -0.1, GREEN: 0.0, RED: 0.1}
    assert game.get_reward_breakdown(BLUE)["User1"] == HostReward(-0.1, 0)
    assert game.get_reward_breakdown(RED)["User1"] == HostReward(0.1, 0)
    assert game.step(BLUE, Restore(0, BLUE, "User1")).reward == -1.0
    game.reset()
    assert game.reward == {}
    assert game.get_reward_breakdown(BLUE)["User1"] == HostReward(0, 0)


def test_there_is_no_breakdown_before_the_first_step_nor_for_green() -> None:
    game = new_game()
    assert game.get_reward_breakdown(RED) == {}
    for agent in (BLUE, GREEN):
        with pytest.raises(AttributeError, match="host_scores"):
            game.get_reward_breakdown(agent)


# --- looking late


@pytest.mark.parametrize("red", [Line, Wanderer, Sleeper])
@pytest.mark.parametrize("rules", RULES)
def test_the_fast_door_leads_to_the_same_game(rules: str, red: type) -> None:
    slow = new_game(5, rules, Red=red)
    slow.reset(BLUE)
    rewards = [slow.step(BLUE, blue_action(number)).reward for number in numbers(1, 60)]
    fast = new_game(5, rules, Red=red)
    door = fast.fast_blue
    assert door is not None
    assert not door.reset().any()
    assert [door.step(number)[1] for number in numbers(1, 60)] == rewards
    assert everything(fast) == everything(slow)


def test_asking_at_every_step_shows_what_asking_once_shows() -> None:
    asked, silent = new_game(6, Red=Line), new_game(6, Red=Line)
    with kept_generator():
        for number in numbers(2, 40):
            asked.step(BLUE, blue_action(number))
            everything(asked)
    door = silent.fast_blue
    assert door is not None
    for number in numbers(2, 40):
        door.step(number)
    assert everything(silent) == everything(asked)


def test_the_world_catches_up_by_itself_when_much_is_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    late, early = new_game(7, Red=Wanderer), new_game(7, Red=Wanderer)
    with kept_generator():
        for number in numbers(3, 40):
            early.fast_blue.step(number)  # type: ignore[union-attr]
    monkeypatch.setattr(controller, "MAX_UNREAD", 6)
    for number in numbers(3, 40):
        late.fast_blue.step(number)  # type: ignore[union-attr]
        assert len(late._unread) <= 6
    assert everything(late) == everything(early)


def test_dicts_that_were_handed_out_follow_the_fast_door() -> None:
    game = new_game(8, Red=Line)
    held = game.get_action_space(RED)
    door = game.fast_blue
    assert door is not None
    for _ in range(3):
        door.step(0)
    assert sum(held["ip_address"].values()) == 5
    assert held == game.get_action_space(RED)


def test_there_is_no_fast_door_where_an_agent_must_be_asked() -> None:
    assert new_game(Red=Line).fast_blue is not None
    assert new_game(Red=noted()).fast_blue is None
    assert new_game(Blue=noted(), Red=Line).fast_blue is None


def test_last_actions_outlive_a_reset_with_their_addresses() -> None:
    game = new_game(9, Red=Line)
    door = game.fast_blue
    assert door is not None
    assert game.get_last_action(RED) is None
    door.step(0)
    subnet = game.network.subnets[2]
    door.reset()
    last = game.get_last_action(RED)
    assert isinstance(last, DiscoverRemoteSystems)
    assert last.subnet == subnet
    assert game.network.subnets[2] != subnet
    assert str(game.get_last_action(GREEN)) == "Sleep"


def test_a_copy_goes_its_own_way() -> None:
    game = new_game(10, Red=Line)
    for number in numbers(4, 10):
        game.step(BLUE, blue_action(number))
    copy = deepcopy(game)
    with kept_generator():
        for number in numbers(5, 10):
            game.step(BLUE, blue_action(number))
    for number in numbers(5, 10):
        copy.step(BLUE, blue_action(number))
    assert everything(copy) == everything(game)


def test_addresses_are_listed_subnet_by_subnet() -> None:
    game = new_game()
    enterprise, operational = ["Enterprise0", "Enterprise1", "Enterprise2", "Defender"], ["Op_Server0", "Op_Host0"]
    assert list(game.hostname_ip_map)[:6] == enterprise + operational
    assert list(game.subnet_cidr_map) == ["Enterprise", "Operational", "User"]
    assert all(game.hostname_ip_map[name] in game.subnet_cidr_map["Enterprise"] for name in enterprise)


def test_two_games_share_pythons_generator() -> None:
    one = new_game(11)
    two = Controller("head", None, Sleeper, {})
    alone = new_game(11)
    first = alone.hostname_ip_map
    alone.reset()
    assert (one.hostname_ip_map, two.hostname_ip_map) == (first, alone.hostname_ip_map)


# --- refusals


def test_what_is_not_here_is_refused_by_name() -> None:
    game = new_game(Red=Line)
    with pytest.raises(NotInGarrison, match=r"original CybORG: environment_controller\.state"):
        game.state  # noqa: B018
    with pytest.raises(NotInGarrison, match=r"agent_interfaces\[\.\.\.\]\.reward_calculator"):
        game.agent_interfaces[BLUE].reward_calculator  # noqa: B018
    with pytest.raises(NotInGarrison, match="an action for Red while Line plays it"):
        game.step(RED, Sleep())
    with pytest.raises(NotInGarrison, match=r"an agent that plays Green \(Agent\)"):
        new_game(Green=noted())
    with pytest.raises(NotInGarrison, match="Files"):
        game.get_true_state({"User1": {"Files": "All"}})
    with pytest.raises(NotInGarrison, match=r"Sleep\.sim_execute"):
        Sleep().sim_execute(None)
    decoy = DecoyApache(session=0, agent=BLUE, hostname="User1")
    with pytest.raises(NotInGarrison, match=r"DecoyApache\.candidate_decoys\.make_decoy"):
        decoy.candidate_decoys[0].make_decoy(None)


def test_what_agents_may_see_belongs_to_one_game() -> None:
    changed = new_game()
    changed.INFO_DICT["Red"]["User1"] = {"System info": "All"}
    assert list(changed.get_agent_state(RED).data) == ["success", "User0", "User1"]
    assert list(new_game().get_agent_state(RED).data) == ["success", "User0"]


def test_unknown_agents_and_spaces_fail_as_in_the_original() -> None:
    game = new_game()
    with pytest.raises(ValueError, match="Agent White not in agent list"):
        game.get_action_space("White")
    with pytest.raises(NotImplementedError):
        game.get_observation_space(BLUE)
    with pytest.raises(KeyError, match="White"):
        game.step("White", Sleep())
    with pytest.raises(KeyError, match="White"):
        game.get_agent_state("White")


def test_remove_and_restore_are_told_as_successes() -> None:
    game = new_game()
    for action in (Remove(0, BLUE, "User1"), Restore(0, BLUE, "User1")):
        assert game.step(BLUE, action).observation == {"success": TRUE}
    assert game.step(BLUE, Sleep()).observation == {"success": UNKNOWN}
