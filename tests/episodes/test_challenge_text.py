"""The challenge's evaluation text: its lines, and actions that read as CybORG writes them."""

import ast
import re

import pytest

from garrison.agents import load_agent
from garrison.episodes.challenge_text import to_challenge_text
from garrison.episodes.game import Game
from garrison.episodes.recording import play, record


def test_the_lines_are_those_of_the_challenge() -> None:
    agent, game = load_agent("react-restore"), Game("bline", 20)
    episodes = record(agent, game, play(agent, game, range(4)))
    lines = to_challenge_text(episodes).splitlines()
    assert len(lines) == 4 + 4
    cell = re.fullmatch(r"steps: 20, adversary: B_lineAgent, mean: (\S+), standard deviation (\S+)", lines[3])
    assert cell is not None
    totals = []
    for line in lines[4:]:
        found = re.fullmatch(r"actions: (\[.*\]), total reward: (\S+)", line)
        assert found is not None
        actions = ast.literal_eval(found[1])
        assert len(actions) == 20
        assert all(len(pair) == 2 for pair in actions)
        totals.append(float(found[2]))
    assert totals == [episode.total for episode in episodes]
    assert float(cell[1]) == pytest.approx(sum(totals) / 4)
    assert actions[:2] == [
        ("Monitor", "DiscoverRemoteSystems User"),
        ("Restore Defender", f"DiscoverNetworkServices {actions[1][1].split()[1]}"),
    ]


def test_lengths_and_attackers_have_lines_of_their_own() -> None:
    agent = load_agent("sleep")
    games = [Game("meander", 5), Game("sleep", 5), Game("meander", 7)]
    episodes = [record(agent, game, play(agent, game, [0]))[0] for game in games]
    cells = [line for line in to_challenge_text(episodes).splitlines() if line.startswith("steps")]
    assert [cell.split(", mean")[0] for cell in cells] == [
        "steps: 5, adversary: RedMeanderAgent",
        "steps: 5, adversary: SleepAgent",
        "steps: 7, adversary: RedMeanderAgent",
    ]


def test_a_name_of_several_lines_stays_on_its_line() -> None:
    agent = load_agent("sleep")
    agent.name = "two\nlines"
    game = Game("sleep", 3)
    text = to_challenge_text(record(agent, game, play(agent, game, [0])))
    assert "technique: two lines\n" in text
