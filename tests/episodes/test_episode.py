"""The format is what docs/watch.md says it is."""

import dataclasses
import re
from pathlib import Path

import garrison
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game, judged_by
from tests.helpers.scripts import episode_of

GUIDE = (Path(__file__).parents[2] / "docs" / "watch.md").read_text()


def test_every_key_of_the_format_stands_in_the_guide() -> None:
    agent = garrison.load_agent("record")
    game = Game("meander", 60, "leaderboard", workflow=judged_by(0))
    episode = episode_of(agent, game)
    questioned = garrison.episodes.what_if(agent, game, episode, [2], top=1, continuations=2)
    values = dataclasses.replace(episode, what_if=questioned).to_dict()
    keys = {*values}
    for part in ("agent", "names", "network", "state", "turn", "policy", "workflow", "metrics", "what_if"):
        assert values[part] is not None
        keys |= {*values[part]}
    keys |= {*values["what_if"]["steps"]["2"], *values["metrics"]["intrusions"][0]}
    assert {key for key in keys if f"`{key}`" not in GUIDE} == set()


def test_the_guide_names_no_measure_that_is_not_there() -> None:
    table = GUIDE.partition("## Measures")[2].partition("## ")[0]
    named = {key for row in re.findall(r"^\| (`.*?) \|", table, re.M) for key in re.findall(r"`(\w+)`", row)}
    assert named == {*episode_of(garrison.load_agent("sleep"), Game("sleep", 2)).metrics}


def test_an_episode_says_in_a_few_words_what_it_is() -> None:
    episode = episode_of(garrison.load_agent("sleep"), Game("bline", 2), 4)
    assert episode.title == "sleep against bline, seed 4"
    assert dataclasses.replace(episode, label="best of 3").title == "sleep against bline, seed 4, best of 3"
    assert list(episode.to_dict())[:3] == ["format", "version", "garrison"]
    assert Episode.of(episode.to_dict()) == episode
