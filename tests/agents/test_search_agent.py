"""The search before a decision: what it sees, what it may change, and that it pays."""

import dataclasses

import numpy as np
import pytest

from garrison.agents import NetworkAgent, Round, SearchAgent, SearchSettings, load_agent
from garrison.agents.load import GUARDED, SEARCHING
from garrison.agents.search_agent import Race
from garrison.agents.search_settings import BUDGETS
from garrison.cage2 import VectorEnv
from garrison.cage2.names import ACTIONS, HOSTS, Access, Host
from garrison.challenge.evaluation import evaluate
from garrison.errors import UserError

QUICK = SearchSettings(likeliest=3, rounds=(Round(4, 2), Round(8, 1)), horizon=10, lengths=(8, 12))  # soon solved
RESTORE = {action.name: number for number, action in enumerate(ACTIONS)}


def _network(name: str = "record") -> NetworkAgent:
    agent = load_agent(name)
    assert isinstance(agent, NetworkAgent)
    return agent


def _games(agent: SearchAgent, envs: VectorEnv, steps: int, seeds: int | list[int] = 3) -> list[list[int]]:
    observations, _ = envs.reset(seed=seeds)
    agent.begin(envs.num_envs, seed=3)
    played = []
    for _ in range(steps):
        actions = agent.act(observations)
        observations, *_ = envs.step(actions)
        played.append(actions.tolist())
    return played


@pytest.mark.parametrize("name", SEARCHING)
def test_it_is_loaded_by_name_with_the_rules_and_eyes_of_its_network(name: str) -> None:
    agent, network = load_agent(name), load_agent(SEARCHING[name])
    assert (agent.name, agent.rules, agent.encoder) == (name, network.rules, network.encoder)
    assert agent.settings == BUDGETS["10ms"]
    assert agent._player.name == GUARDED.get(SEARCHING[name], SEARCHING[name])


def test_a_budget_is_part_of_the_name_and_means_counts() -> None:
    assert load_agent("record-search@50ms").settings == BUDGETS["50ms"]
    games = [sum(one.continuations for one in settings.rounds) for settings in BUDGETS.values()]
    assert games == sorted(games)
    with pytest.raises(UserError, match="1ms"):
        load_agent("record-search@3h")


def test_the_same_seed_plays_the_same_actions() -> None:
    envs = VectorEnv(3, red=["bline", "meander", "sleep"], rules="leaderboard")
    agent = SearchAgent(_network(), QUICK)
    assert _games(agent, envs, 12) == _games(agent, envs, 12)


def test_an_environment_is_searched_by_itself() -> None:
    """Beliefs, luck and candidates of one environment do not depend on its neighbours."""
    agent = SearchAgent(_network(), QUICK)
    alone = _games(agent, VectorEnv(1, red="meander", rules="leaderboard"), 12)
    both = _games(agent, VectorEnv(2, red=["meander", "bline"], rules="leaderboard"), 12)
    assert [actions[0] for actions in both] == [actions[0] for actions in alone]


def test_the_place_in_a_batch_decides_nothing() -> None:
    agent = SearchAgent(_network(), dataclasses.replace(QUICK, margin=0.0))  # so that luck decides much
    alone = _games(agent, VectorEnv(1, red="meander", rules="leaderboard"), 12, [7])
    both = _games(agent, VectorEnv(2, red=["bline", "meander"], rules="leaderboard"), 12, [5, 7])
    assert [actions[1] for actions in both] == [actions[0] for actions in alone]


def test_what_no_candidate_beats_by_its_margin_stays_the_networks_choice() -> None:
    envs = VectorEnv(2, red=["bline", "meander"], rules="leaderboard")
    never = SearchAgent(_network(), dataclasses.replace(QUICK, margin=1e9))
    network = _network()
    network.begin(2)
    observations, _ = envs.reset(seed=3)
    expected = []
    for _ in range(10):
        actions = network.act(observations)
        observations, *_ = envs.step(actions)
        expected.append(actions.tolist())
    assert _games(never, envs, 10) == expected


def test_a_host_that_the_network_gave_up_is_restored() -> None:
    """Nobody defends for some steps, so that Red holds hosts; then the search sees what it costs to leave them."""
    envs = VectorEnv(1, red="bline", rules="head")
    observations, _ = envs.reset(seed=1)
    agent = SearchAgent(_network("record-head"), SearchSettings(rounds=(Round(16, 1),), horizon=30))
    agent.begin(1)
    for _ in range(15):
        agent.act(observations)
        agent.took(np.zeros(1, np.int64))
        observations, *_ = envs.step(np.zeros(1, np.int64))
    belief = agent.beliefs[0]
    assert belief.misses == 0
    held = 1 - agent.beliefs[0].access()[:, Access.NONE]
    assert held[Host.OP_SERVER0] > 0.9
    candidates = agent._candidates(0, np.eye(145, dtype=np.float32)[0], belief)
    assert RESTORE[f"Restore {HOSTS[Host.OP_SERVER0]}"] in candidates
    assert RESTORE["Restore User0"] not in candidates
    lost = float(envs.step(agent.act(observations))[1][0])
    for _ in range(6):
        observations, rewards, *_ = envs.step(agent.act(observations))
    assert rewards[0] > lost


def test_it_begins_anew_where_episodes_end() -> None:
    agent = SearchAgent(_network(), QUICK)
    envs = VectorEnv(2, red="meander", rules="leaderboard", length=6, autoreset_mode="SameStep")
    observations, _ = envs.reset(seed=1)
    agent.begin(2)
    for _ in range(14):
        observations, _, _, ended, _ = envs.step(agent.act(observations))
        agent.reset(ended)
        assert agent.beliefs.misses.tolist() == [0, 0]
    assert agent._book.clocks.tolist() == [1, 1]


def test_clones_go_on_as_the_original_would_with_its_own_luck() -> None:
    envs = VectorEnv(2, red="meander", rules="leaderboard")
    agent = SearchAgent(_network(), dataclasses.replace(QUICK, margin=1e9))
    _games(agent, envs, 8)
    twin = agent.clone(np.array([1, 1]), seed=4)
    own = agent.act(envs.observations)
    assert twin.act(envs.observations[[1, 1]]).tolist() == [own[1], own[1]]
    assert twin.beliefs[0].states.tobytes() == agent.beliefs[1].states.tobytes()


def test_the_guard_of_a_network_plays_its_games_and_keeps_in_step() -> None:
    envs = VectorEnv(3, red=["bline", "meander", "meander"], rules="leaderboard", length=30)
    agent, guard = SearchAgent(load_agent("record-belief"), dataclasses.replace(QUICK, margin=0.0)), _network()
    assert agent._player.name == "record"
    for _ in range(2):  # the second time with a memory of other episodes
        played = _games(agent, envs, 16)
    observations, _ = envs.reset(seed=3)
    guard.begin(3, seed=3)
    for actions in played:
        guard.act(observations)
        guard.took(np.array(actions))
        observations, *_ = envs.step(np.array(actions))
    assert np.array_equal(agent._player.memory(), guard.memory())
    never = SearchAgent(load_agent("record-belief"), dataclasses.replace(QUICK, margin=1e9))
    assert _games(never, envs, 16) != played, "what is remembered is not only what the network chose"
    twin = agent.clone(np.array([2, 0]), seed=4)
    assert np.array_equal(twin._player.memory(), guard.memory()[[2, 0]])  # type: ignore[index]


def test_rewards_count_as_much_as_the_episode_is_likely_to_reach_them() -> None:
    agent = SearchAgent(_network(), SearchSettings(lengths=(3, 5), horizon=10))
    assert agent._shares(0).tolist() == [1, 1, 1, 0.5, 0.5]
    assert agent._shares(3).tolist() == [1, 1]
    assert agent._shares(5).tolist() == [1] * 10  # longer than expected
    short = SearchAgent(_network(), SearchSettings(lengths=(3, 5), horizon=2))
    assert short._shares(2).tolist() == [1, 0.5]


def test_a_contest_keeps_what_looks_better_and_names_what_is() -> None:
    contest = Race(0, np.array([7, 8, 9, 10]), np.ones(1))
    contest.take(np.array([[0.0, 0.0], [-1.0, -1.0], [1.0, 3.0], [0.5, 0.5]]), keep=2)
    assert contest.actions.tolist() == [7, 9, 10]
    assert contest.winner(margin=1.5) == 9  # better by 2.0 with an error of 1.0
    assert contest.winner(margin=2.5) == 10  # better by 0.5, always
    contest.take(np.array([[5.0, 5.0], [0.0, 0.0], [0.0, 0.0]]), keep=2)
    assert contest.actions.tolist() == [7]
    assert contest.winner(margin=0.0) == 7


def test_it_is_evaluated_like_any_agent() -> None:
    score = evaluate(SearchAgent(_network(), QUICK, "mine"), episodes=2, lengths=(8,))
    assert score.agent == "mine"
    assert score.rules == "leaderboard"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"likeliest": 0}, "likeliest"),
        ({"suspicion": 2.0}, "suspicion"),
        ({"rounds": ()}, "round"),
        ({"rounds": (Round(1, 1),)}, "continuations"),
        ({"horizon": 0}, "horizon"),
        ({"lengths": (0,)}, "lengths"),
    ],
)
def test_wrong_settings_of_a_search_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SearchSettings(**settings)  # type: ignore[arg-type]
