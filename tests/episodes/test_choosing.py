"""Of many episodes: the worst, the median and the best."""

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.episodes.choosing import choose_episodes
from garrison.episodes.game import Game
from garrison.episodes.recording import play
from garrison.errors import UserError
from tests.helpers.scripts import episode_of

GAME = Game("bline", 25)


def test_the_worst_the_median_and_the_best_are_shown_in_this_order() -> None:
    agent = load_agent("alert-restore")
    totals = play(agent, GAME, range(10, 61)).totals
    found = choose_episodes(agent, GAME, worst=4, episodes=51, seed=10)
    assert [one.label for one in found] == [
        "worst of 51",
        "2nd worst of 51",
        "3rd worst of 51",
        "4th worst of 51",
        "median of 51",
        "best of 51",
    ]
    ordered = np.sort(totals)
    assert [one.total for one in found] == [*ordered[:4], np.median(totals), ordered[-1]]
    for one in found:
        assert one.total == totals[one.seed - 10]


def test_a_chosen_episode_can_be_played_again_by_its_seed() -> None:
    agent = load_agent("record")
    for one in choose_episodes(agent, GAME, episodes=30):
        again = episode_of(agent, GAME, one.seed)
        assert (again.turn, again.state, again.total) == (one.turn, one.state, one.total)


def test_an_agent_that_draws_is_recorded_as_it_was_drawn() -> None:
    agent = load_agent("random")
    totals = play(agent, GAME, range(40)).totals
    assert [one.total for one in choose_episodes(agent, GAME, episodes=40)] == [
        totals.min(),
        np.sort(totals)[19],
        totals.max(),
    ]


def test_of_a_few_episodes_each_is_shown_once() -> None:
    assert [one.label for one in choose_episodes(load_agent("sleep"), GAME, episodes=1)] == ["worst of 1"]
    assert len(choose_episodes(load_agent("sleep"), GAME, worst=3, episodes=3)) == 3


@pytest.mark.parametrize(("worst", "episodes"), [(0, 10), (11, 10), (1, 0)])
def test_as_many_as_there_are(worst: int, episodes: int) -> None:
    with pytest.raises(UserError, match=f"of {episodes} episodes"):
        choose_episodes(load_agent("sleep"), GAME, worst, episodes)
