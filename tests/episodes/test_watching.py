"""`garrison.watch`: what it plays, shows in notebooks and saves."""

import dataclasses
import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison
from garrison import cli
from garrison.agents import SCRIPTED, load_agent
from garrison.cage2 import RedAgent
from garrison.cage2.names import RedKind
from garrison.episodes.episode_files import read_episodes
from garrison.episodes.watching import first_difference
from garrison.errors import UserError
from garrison.workflow.defenders import find_defender
from garrison.workflow.orders import ORDERS
from garrison.workflow.workflow_task import make_workflow_envs


class Sleeper(RedAgent):
    """An attacker of a user's own."""

    def act(self, view: Any) -> Any:
        return RedKind.SLEEP, 0


def test_an_agent_is_watched_under_the_rules_of_its_training() -> None:
    found = garrison.watch("record", length=10, seed=7).episodes
    assert [(e.rules, e.seed, e.length, e.red) for e in found] == [("leaderboard", 7, 10, "meander")]
    assert garrison.watch("sleep", length=3).episodes[0].rules == "head"
    assert garrison.watch("record", rules="head", length=3).episodes[0].rules == "head"


def test_two_agents_play_the_same_seed() -> None:
    found = garrison.watch("record", "alert-restore", length=12, seed=3)
    first, second = found.episodes
    assert first.seed == second.seed == 3
    assert first.rules == second.rules
    differs = [a != b for a, b in zip(first.turn["blue_action"], second.turn["blue_action"], strict=True)]
    assert found.pair == {"first_difference": differs.index(True)}
    same = garrison.watch("record", load_agent("record"), length=12)
    assert same.pair == {"first_difference": None}
    assert first_difference(*same.episodes) is None


def test_a_notebook_gets_a_frame_that_holds_the_page() -> None:
    watched = garrison.watch("sleep", length=3)
    shown = watched._repr_html_()
    source = re.search(r'srcdoc="([^"]*)"', shown)
    assert source is not None
    assert html.unescape(source[1]) == watched.html()
    assert 'sandbox="allow-scripts"' in shown


def test_a_name_cannot_leave_the_page_or_the_frame(tmp_path: Path) -> None:
    agent = SCRIPTED["sleep"]()
    agent.name = "\"'</script><img src=x onerror=alert(1)>"  # type: ignore[misc]
    watched = garrison.watch(agent, length=3)
    assert "<img" not in watched.html()
    assert "<img" not in watched._repr_html_()
    watched.save(tmp_path / "page.html")
    assert read_episodes(tmp_path / "page.html")[0].agent["name"] == agent.name


def test_episodes_are_watched_as_they_are() -> None:
    first = garrison.watch("sleep", length=4).episodes[0]
    second = garrison.watch("shield", length=4).episodes[0]
    assert garrison.watch(first).episodes == [first]
    assert garrison.watch([first, second]).episodes == [first, second]


def test_the_worst_of_many_and_what_else_they_could_have_done() -> None:
    found = garrison.watch("record", length=12, worst=2, episodes=20, what_if=[3, 4], top=2, continuations=2)
    assert [one.label for one in found.episodes] == ["worst of 20", "2nd worst of 20", "median of 20", "best of 20"]
    for one in found.episodes:
        assert one.what_if is not None
        assert list(one.what_if["steps"]) == ["3", "4"]
    whole = garrison.watch("record", length=5, what_if=True, top=1, continuations=2).episodes[0].what_if
    assert whole is not None
    assert len(whole["steps"]) == 5


@pytest.mark.parametrize("red", [Sleeper, Sleeper(), f"{__name__}:Sleeper"])
def test_an_attacker_of_ones_own_is_watched(red: Any) -> None:
    episode = garrison.watch("sleep", red=red, length=4, what_if=[1], continuations=2).episodes[0]
    assert episode.turn["red_kind"] == [0] * 4
    assert episode.red.endswith("Sleeper")
    assert episode.what_if is not None
    assert episode.what_if["steps"]["1"]["mean"][0] == 0


def test_a_run_on_workflows_is_watched_under_its_order(tmp_path: Path) -> None:
    tiny = "--envs 12 --length 10 --rollout 10 --hidden 8 --minibatches 2 --epochs 1 --no-tensorboard --quiet"
    run = tmp_path / "run"
    assert cli.main(f"workflow train 6 117 --out {run} {tiny} --evaluate-episodes 2 --episodes 24".split()) == 0
    defender, experiment = find_defender(str(run))
    for order in (6, 117):
        episode = garrison.watch(run, red="bline", length=20, order=order, seed=5).episodes[0]
        env = dataclasses.replace(experiment.env, red="bline", length=20)
        envs = make_workflow_envs(env, experiment.workflow, [order], autoreset_mode="Disabled")
        envs.reset(seed=[5])
        defender.begin(envs, order, 0)
        actions = []
        for _ in range(20):
            choices = defender.act(envs)
            envs.step(choices)
            actions.append(int(envs.truth.blue_action[0]))
        assert episode.turn["blue_action"] == actions
        assert episode.workflow is not None
        assert envs.workflow is not None
        assert episode.workflow["rate"] == pytest.approx(float(envs.workflow.rates[0]), abs=1e-4)
        assert episode.workflow["order"] == list(ORDERS[order])
        assert episode.policy is not None
    assert (
        garrison.watch(run, length=5).episodes[0].workflow
        == garrison.watch(run, length=5, order=6).episodes[0].workflow
    )


def test_what_is_no_agent_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="an agent needs name"):
        garrison.watch(object())  # type: ignore[arg-type]
    with pytest.raises(UserError, match="leave out worst"):
        garrison.watch("sleep", "shield", worst=2)
    with pytest.raises(UserError, match="a list of episodes"):
        garrison.watch([])
    with pytest.raises(UserError, match="unknown red 'beeline'"):
        garrison.watch("sleep", red="beeline")


def test_a_users_own_agent_needs_no_more_than_the_protocol() -> None:
    class Mine:
        name, encoder = "mine", "challenge"

        def begin(self, num_envs: int, seed: int = 0) -> None:
            self.seen = 0

        def reset(self, mask: Any) -> None:
            pass

        def act(self, observations: Any) -> Any:
            self.seen += 1
            return np.full(len(observations), 132 + self.seen)  # Restore of one host after the other

    episode = garrison.watch(Mine(), red="sleep", length=6, what_if=[2], continuations=2).episodes[0]  # type: ignore[arg-type]
    assert episode.turn["blue_action"] == [133, 134, 135, 136, 137, 138]
    # Its memory is right in the copies: three more Restores follow, whatever it does at step 2.
    assert episode.what_if is not None
    assert episode.what_if["steps"]["2"]["mean"][0] == -3
    assert episode.what_if["steps"]["2"]["regret"] == 1


def test_the_page_in_the_docs_shows_what_the_shipped_agent_does() -> None:
    page = Path(__file__).parents[2] / "docs" / "watch-record.html"
    assert page.stat().st_size < 2_000_000
    shown = read_episodes(page)
    assert [one.label for one in shown] == ["worst of 1,000", "median of 1,000", "best of 1,000"]
    for one in shown:
        again = garrison.watch("record", seed=one.seed).episodes[0]
        assert (again.turn, again.state, again.metrics, again.total) == (one.turn, one.state, one.metrics, one.total)
        assert one.what_if is not None
        assert len(one.what_if["steps"]) == 100
