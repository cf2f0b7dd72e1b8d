import json
from pathlib import Path

import numpy as np
import pytest

import garrison
from garrison.text import Contest, Endpoint, LLMAgent, Telling, play_contest
from tests.helpers.chat_players import careless
from tests.helpers.chat_server import chat_server


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def test_a_model_is_an_agent_and_plays_as_in_a_contest(tmp_path: Path) -> None:
    with chat_server(careless) as server:
        endpoint, telling = Endpoint(server.url, "m"), Telling("json", 3, rename="neutral")
        agent = LLMAgent(endpoint, telling, parallel=2)
        result = garrison.evaluate(agent, episodes=2, reds=["bline", "meander"], lengths=[5], seed=3)
        contest = Contest(endpoint, telling, ["bline", "meander"], [5], 2, seed=3, baselines=())
        standings = play_contest(contest, tmp_path)
    assert result.agent == "m"
    for cell, ours in zip(standings.cells, result.cells, strict=True):
        assert ours.mean == pytest.approx(standings.mean(standings.entries[0], cell).mean)
    assert [len(decisions) for decisions in agent.decisions] == [5] * 4
    assert agent.usage == standings.usage


def test_a_model_can_be_watched_without_asking_twice() -> None:
    with chat_server(careless) as server:
        agent = LLMAgent(Endpoint(server.url, "m"))
        watched = garrison.watch(agent, length=4, seed=2)
        assert len({json.dumps(asked["messages"]) for asked in server.asked}) == len(server.asked) >= 4
    assert watched.episodes[0].agent["name"] == "m"
    notes = watched.episodes[0].notes
    assert notes is not None
    assert len(notes) == 4
    assert all("is at risk" in note and "\n\n→ " in note for note in notes)


def test_new_episodes_begin_where_they_are_told() -> None:
    with chat_server(careless) as server:
        agent = LLMAgent(Endpoint(server.url, "m"), Telling(view="sentences"))
        agent.begin(2)
        bits = np.zeros((2, 52), np.int8)
        for _ in range(2):
            agent.act(bits)
        agent.reset(np.array([True, False]))
        server.asked.clear()
        agent.act(bits)
        told = {asked["messages"][1]["content"].partition("Turn ")[2].partition(".")[0] for asked in server.asked}
    assert told == {"1", "3"}
    assert [len(decisions) for decisions in agent.decisions] == [1, 3]
