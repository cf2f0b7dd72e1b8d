import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.cage2 import RedAgent, RedView
from garrison.cage2.names import RedKind
from garrison.challenge.evaluation import evaluate
from garrison.episodes import read_episodes
from garrison.errors import GarrisonError, UserError
from garrison.storage.lock import Held, only_writer
from garrison.text import Contest, Endpoint, EndpointError, Price, Spending, Telling, Transcript, play_contest
from garrison.text.contest_folder import PAGE, RESULTS, SETTINGS, TRANSCRIPT, ContestFolder
from garrison.text.spending import BudgetSpent
from garrison.text.standings import ContestCell
from tests.helpers.chat_players import careless, thoughtful
from tests.helpers.chat_server import Script, called, chat_server, failed


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def small(url: str, **more: Any) -> Contest:
    settings: dict[str, Any] = {"reds": ["meander"], "lengths": [6], "episodes": 3, "baselines": ("sleep",), **more}
    return Contest(Endpoint(url, "m", retries=0, pause=lambda seconds: None), **settings)


def lines(folder: Path) -> list[dict[str, Any]]:
    """The transcript, in the order of episodes and without what only the clock decides."""
    found = [json.loads(line) for line in (folder / TRANSCRIPT).read_text().splitlines()]
    for line in found:
        line.pop("seconds")
    return sorted(found, key=lambda line: (line["length"], line["red"], line["episode"], line["turn"]))


def limited(script: Script, answers: int) -> Script:
    """A server that breaks for ever after some answers."""
    left = iter(range(answers))
    return lambda asked: script(asked) if next(left, None) is not None else failed(500, "broken")


def test_a_contest_from_beginning_to_end(tmp_path: Path) -> None:
    with chat_server(careless) as server:
        contest = small(server.url, reds=["bline", "meander"], lengths=[6, 8])
        spending = Spending(Price(1.0, 2.0))
        standings = play_contest(contest, tmp_path / "c", spending)
    assert standings.turns == 3 * 2 * (6 + 8)
    assert standings.usage.requests == len(server.asked) == standings.turns + standings.refusals
    assert 0 < standings.refused_turns <= standings.refusals
    assert standings.cost == pytest.approx(len(server.asked) * (100 * 1.0 + 10 * 2.0) / 1e6)
    assert json.loads((tmp_path / "c" / RESULTS).read_text()) == standings.to_dict()
    played = Transcript(tmp_path / "c" / TRANSCRIPT).read()
    for cell in standings.cells:
        for k, total in enumerate(standings.entries[0].totals[cell]):
            assert total == round(sum(turn.reward for turn in played[cell.red, cell.length, k]), 3)


def test_baselines_and_model_play_the_episodes_of_the_official_evaluation(tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        contest = small(server.url, reds=["bline", "meander"], lengths=[30], episodes=2, baselines=None, seed=4)
        standings = play_contest(contest, tmp_path)
    assert [entry.name for entry in standings.entries] == ["m", "sleep", "random", "react-restore", "record-head"]
    for name in ("react-restore", "record-head"):
        official = evaluate(load_agent(name), "head", 2, 4, ["bline", "meander"], [30])
        entry = next(entry for entry in standings.entries if entry.name == name)
        for cell in official.cells:
            assert np.mean(entry.totals[ContestCell(cell.red, cell.length)]) == pytest.approx(cell.mean)


class Rambler(RedAgent):
    """Sweeps, escalates what it holds, exploits what it has scanned, scans the rest: whatever it picks."""

    def act(self, view: RedView) -> tuple[np.ndarray, np.ndarray]:
        targets, scanned = view.pick(view.known_address), view.tried(RedKind.SCAN)
        rows = np.arange(view.num_envs)
        kinds = np.where(scanned[rows, targets], RedKind.EXPLOIT, RedKind.SCAN)
        kinds = np.where(view.sessions[rows, targets] > 0, RedKind.ESCALATE, kinds)
        subnets = view.pick(view.known_subnet & ~view.tried(RedKind.SWEEP))
        return np.where(subnets >= 0, RedKind.SWEEP, kinds), np.where(subnets >= 0, subnets, targets)


@pytest.mark.parametrize("red", ["bline", Rambler])
def test_a_model_that_sleeps_scores_as_the_sleeping_agent(red: Any, tmp_path: Path) -> None:
    with chat_server(lambda asked: called({"action": "Sleep"})) as server:
        standings = play_contest(small(server.url, reds=[red], lengths=[30]), tmp_path)
    model, sleep = standings.entries
    assert model.totals == sleep.totals
    assert all(total < 0 for total in model.totals[standings.cells[0]])
    assert standings.lead(sleep, standings.cells[0]) == (0.0, 0.0)
    assert "m is equal" in standings.to_text()


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_contest_goes_on_where_it_was_stopped_in_the_middle_of_an_episode(tmp_path: Path, parallel: int) -> None:
    with chat_server(careless) as server:
        play_contest(small(server.url), tmp_path / "whole")
        asked = len(server.asked)
        whole = lines(tmp_path / "whole")
    folder, tries = tmp_path / "parts", 0
    with chat_server(careless) as server:
        for answers in (1, 7, 4, 1000):
            server.script = limited(careless, answers)
            tries += 1
            try:
                standings = play_contest(small(server.url, parallel=parallel), folder)
            except EndpointError:
                with (folder / TRANSCRIPT).open("ab") as file:
                    file.write(b'{"red": "meander", "len')  # as if it had been killed while it wrote
    assert tries == 4
    assert lines(folder) == whole
    assert standings.usage.requests == asked  # of what is kept: who is stopped may lose answers on their way
    assert (folder / RESULTS).read_bytes() != b""
    with chat_server(lambda asked: failed(500)) as server:  # nothing is left to ask
        assert play_contest(small(server.url), folder).entries == standings.entries
        assert server.asked == []


def test_more_episodes_can_follow(tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        first = play_contest(small(server.url, episodes=2), tmp_path)
        more = play_contest(small(server.url, episodes=3), tmp_path)
        assert len(server.asked) == 3 * 6
    cell = first.cells[0]
    assert more.entries[0].totals[cell][:2] == first.entries[0].totals[cell]


def test_another_contest_does_not_go_on_in_its_folder(tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        contest = small(server.url)
        play_contest(contest, tmp_path / "c")
        for change, name in (
            ({"seed": 1}, "seed"),
            ({"telling": Telling(rename="roles")}, "hosts"),
            ({"chances": 5}, "chances"),
            ({"template": "Defend!"}, "instructions"),
        ):
            with pytest.raises(UserError, match=f"another {name}"):
                play_contest(replace(contest, **change), tmp_path / "c")  # type: ignore[arg-type]
        (tmp_path / "else").mkdir()
        (tmp_path / "else" / "thesis.txt").write_text("dear")
        with pytest.raises(UserError, match="something else"):
            play_contest(contest, tmp_path / "else")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("")  # left of a process that was killed before it wrote anything
    with chat_server(thoughtful) as server:
        contest = small(server.url)
        play_contest(contest, tmp_path)
        with only_writer(tmp_path, ""), pytest.raises(Held, match="is being written"):
            play_contest(contest, tmp_path)


def test_a_game_that_went_otherwise_is_noticed(tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        contest = small(server.url, episodes=1)
        play_contest(contest, tmp_path)
        file = tmp_path / TRANSCRIPT
        values = [json.loads(line) for line in file.read_text().splitlines()][:3]
        values[1]["reward"] -= 1.0
        file.write_text("".join(json.dumps(value) + "\n" for value in values))
        with pytest.raises(GarrisonError, match=r"turn 2 of episode 0 .* when it was played"):
            play_contest(contest, tmp_path)


def test_the_budget_ends_it_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        contest = small(server.url, parallel=1)
        with pytest.raises(BudgetSpent):
            play_contest(contest, tmp_path, Spending(Price(1.0, 1.0), 5 * 110 / 1e6))
        assert len(server.asked) == 5
        standings = play_contest(contest, tmp_path, Spending(Price(1.0, 1.0), 1.0))
        assert len(server.asked) == 18
    assert standings.cost == pytest.approx(18 * 110 / 1e6)


def test_the_page_shows_what_the_model_said(tmp_path: Path) -> None:
    with chat_server(careless) as server:
        standings = play_contest(small(server.url, telling=Telling(rename="neutral:1")), tmp_path)
    episodes = read_episodes(tmp_path / PAGE)
    totals = standings.entries[0].totals[standings.cells[0]]
    assert episodes[0].total == min(totals)
    assert episodes[0].label == "worst of 3, hosts renamed"
    assert episodes[-1].total == max(totals)
    first = Transcript(tmp_path / TRANSCRIPT).read()["meander", 6, int(np.argmin(totals))]
    assert [turn.number for turn in first] == episodes[0].turn["blue_action"]
    assert episodes[0].notes is not None
    for turn, note in zip(first, episodes[0].notes, strict=True):
        assert turn.said in note
        assert note.endswith(f"→ {turn.action}")
        assert all(refusal in note for refusal in turn.refusals)
    assert "<b>host" not in (tmp_path / PAGE).read_text()  # markup in a model's words stays text


def test_names_change_the_words_and_nothing_else(tmp_path: Path) -> None:
    def scripted(asked: dict[str, Any]) -> dict[str, Any]:
        hosts = asked["tools"][0]["function"]["parameters"]["properties"]["host"]["enum"]
        user1 = next(host for host in hosts if host in ("User1", "desk-sales-2"))
        return called({"action": "Restore", "host": user1})

    with chat_server(scripted) as server:
        plain = play_contest(small(server.url), tmp_path / "plain")
        renamed = play_contest(small(server.url, telling=Telling(rename="roles")), tmp_path / "roles")
    assert plain.entries == renamed.entries
    assert ContestFolder(tmp_path / "roles").standings().entries[0] == renamed.entries[0]
    assert "User1" not in (tmp_path / "roles" / TRANSCRIPT).read_text()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"reds": []}, "at least one"),
        ({"reds": ["bline", "bline"]}, "once"),
        ({"reds": ["blinee"]}, "did you mean 'bline'"),
        ({"lengths": [0]}, "length"),
        ({"episodes": 0}, "episodes"),
        ({"rules": "mine"}, "rules"),
        ({"parallel": 0}, "parallel"),
        ({"seed": -1}, "seed"),
        ({"baselines": ("sleep", "sleep")}, "two agents are called 'sleep'"),
        ({"baselines": ("slep",)}, "did you mean 'sleep'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_asked(wrong: dict[str, Any], why: str, tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        with pytest.raises(UserError, match=why):
            play_contest(small(server.url, **wrong), tmp_path / "c")
        assert server.asked == []
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", [RESULTS, SETTINGS])
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"agent": "m", "cells": 3}', "[" * 3000])
def test_damaged_files_are_refused(name: str, text: str, tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        contest = small(server.url, episodes=1)
        play_contest(contest, tmp_path)
        (tmp_path / name).write_text(text)
        with pytest.raises(UserError):
            ContestFolder(tmp_path).standings() if name == RESULTS else play_contest(contest, tmp_path)


def test_a_trained_attacker_can_be_named(tmp_path: Path) -> None:
    with chat_server(thoughtful) as server:
        standings = play_contest(small(server.url, reds=["red-vs-record"]), tmp_path / "c")
    expected = evaluate(load_agent("sleep"), rules="head", episodes=3, lengths=[6], reds=["red-vs-record"]).cells[0]
    (mine,) = standings.entries[1].totals.values()
    assert np.mean(mine) == pytest.approx(expected.mean)
    assert (tmp_path / "c" / PAGE).exists()
