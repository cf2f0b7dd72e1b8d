"""The format is what docs/watch.md says it is."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import garrison
from garrison.episodes import read_episodes
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game, judged_by
from garrison.errors import UserError
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


def test_notes_and_large_seeds_are_kept_and_checked(tmp_path: Path) -> None:
    episode = episode_of(garrison.load_agent("sleep"), Game("bline", 2), 2**53)
    noted = dataclasses.replace(episode, seed=2**64 - 1, notes=["<b>quiet", ""])
    assert read_episodes(noted.save(tmp_path / "episode.json")) == [noted]
    assert noted.to_dict()["seed"] == str(2**64 - 1)  # a number would be rounded by whoever reads it as a float
    for name, value, why in (
        ("notes", ["one"], "its notes has 1 rows"),
        ("notes", [1, 2], "its notes must be a list of texts"),
        ("notes", "no", "its notes must be"),
        ("seed", "7", "seed"),
        ("seed", str(2**64), "seed"),
        ("seed", 2**53, "seed"),
        ("seed", "٣" * 17, "seed"),
    ):
        with pytest.raises(UserError, match=why):
            Episode.of(noted.to_dict() | {name: value})


class Talker:
    """Sleeps, and says so."""

    name, encoder, rules = "talker", "challenge", None

    def begin(self, num_envs: int, seed: int = 0) -> None:
        self.count, self.turn = num_envs, 0

    def reset(self, mask: object) -> None: ...

    def act(self, observations: object) -> np.ndarray:
        self.turn += 1
        return np.zeros(self.count, np.int64)

    def said(self) -> list[str]:
        return [f"{row}: zzz {self.turn}" for row in range(self.count)]


def test_what_an_agent_says_stays_with_its_episode() -> None:
    watched = garrison.watch(Talker(), length=3, worst=1, episodes=5)
    for episode in watched.episodes:
        row = episode.seed  # the first seed is 0
        assert episode.notes == [f"{row}: zzz {turn}" for turn in (1, 2, 3)]
    assert garrison.watch("sleep", length=2).episodes[0].notes is None
