"""Measures of episodes in which both sides do as they are told, counted by hand."""

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.episodes.game import Game
from tests.helpers.duel import HOST
from tests.helpers.scripts import by_the_book, episode_of

WAY = ["sweep User", "scan User1", "exploit User1", "escalate User1"]
# With seed 2 Red takes FTPDirectoryTraversal on User1 and User2: privileged at once, and seen.


def test_an_intrusion_lasts_from_the_first_session_until_none() -> None:
    found = by_the_book(["Sleep"] * 6 + ["Restore User1", "Sleep"], WAY, seed=2).metrics
    assert found["intrusions"] == [{"host": HOST["User1"], "from": 3, "to": 7, "level": 2}]
    assert (found["cleared"], found["mean_time_to_clear"]) == (1, 4.0)


def test_an_intrusion_that_is_never_cleared_has_no_end() -> None:
    found = by_the_book([], WAY, seed=2).metrics
    assert found["intrusions"] == [{"host": HOST["User1"], "from": 3, "to": None, "level": 2}]
    assert (found["cleared"], found["mean_time_to_clear"]) == (0, None)


def test_a_host_lost_again_in_the_turn_in_which_it_was_cleared_is_two_intrusions() -> None:
    red = [*WAY[:3], "exploit User1"]
    found = by_the_book(["Sleep"] * 3 + ["Restore User1"], red, seed=2)
    assert found.turn["red_success"][-1] == 1
    assert [(one["from"], one["to"]) for one in found.metrics["intrusions"]] == [(3, 4), (4, None)]


def test_a_restore_is_precise_if_it_removed_a_session() -> None:
    blue = ["Sleep"] * 3 + ["Restore User1", "Restore User1", "Restore User0", "Restore User2"]
    found = by_the_book(blue, WAY[:3], seed=2).metrics
    assert (found["restores"], found["restore_precision"], found["false_alarms"]) == (4, 0.25, 3)
    assert found["cost_of_actions"] == -4
    assert (found["removes"], found["remove_precision"]) == (0, None)


def test_a_remove_is_precise_if_it_removed_a_session() -> None:
    red = ["sweep User", "scan User2", "exploit User2"]
    seed = next(s for s in range(50) if "user session" in by_the_book([], red, s).turn["red_text"][-1])
    found = by_the_book(["Sleep"] * 3 + ["Remove User2", "Remove User2", "Remove User1"], red, seed).metrics
    assert (found["removes"], found["remove_precision"]) == (3, 0.3333)
    assert found["intrusions"] == [{"host": HOST["User2"], "from": 3, "to": 4, "level": 1}]


def test_sleeping_is_no_action_without_effect() -> None:
    assert by_the_book(["Sleep"] * 4, []).metrics["without_effect"] is None
    found = by_the_book(["Sleep", "Monitor", "DecoyTomcat User1", "DecoyTomcat User1", "Analyse User1"], [])
    assert found.metrics["without_effect"] == 0.75
    assert found.metrics["decoys_placed"] == 1


def test_exploits_are_counted_by_what_became_of_them() -> None:
    red = ["sweep User", "scan User2", "exploit User2", "scan User1", "exploit User1", "exploit User3"]
    found = by_the_book(["DecoyFemitter User2"], red, seed=2)
    assert [found.metrics[name] for name in ("exploits", "exploits_won", "drawn_by_decoys")] == [3, 1, 1]
    assert found.turn["caught"] == [0, 0, 1, 0, 0, 0]


def test_costs_add_up_to_the_total() -> None:
    for seed in range(5):
        episode = episode_of(load_agent("react-restore"), Game("bline", 60), seed)
        parts = [episode.metrics[f"cost_of_{what}"] for what in ("hosts", "service", "actions")]
        assert sum(parts) == pytest.approx(episode.total)
        assert episode.metrics["cost_of_service"] == -10 * episode.metrics["service_down"]


def test_what_blue_does_not_see_is_counted_per_host_and_step() -> None:
    unseen = wrong = 0
    for seed in range(20):
        episode = episode_of(load_agent("react-remove"), Game("meander", 50), seed)
        held, belief = np.array(episode.state["sessions"])[1:] > 0, np.array(episode.state["belief"])[1:]
        held[:, HOST["User0"]], belief[:, HOST["User0"]] = False, 0
        assert episode.metrics["held_unseen"] == int((held & (belief == 0)).sum())
        assert episode.metrics["believed_clean"] == int((~held & (belief >= 2)).sum())
        unseen, wrong = unseen + episode.metrics["held_unseen"], wrong + episode.metrics["believed_clean"]
    assert unseen
    assert wrong
