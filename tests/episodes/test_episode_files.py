"""Files of episodes: what is written is read back, and anything else is refused in a sentence."""

import copy
import gzip
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest

from garrison.agents import load_agent
from garrison.episodes.episode import STATE_COLUMNS, TURN_COLUMNS, Episode
from garrison.episodes.episode_files import read_data, read_episodes
from garrison.episodes.game import Game
from garrison.episodes.watching import watch
from garrison.errors import UserError
from tests.helpers.scripts import episode_of


@pytest.fixture(scope="module")
def episode() -> Episode:
    return episode_of(load_agent("record"), Game("meander", 12, "leaderboard"), 7)


@pytest.mark.parametrize("name", ["one.json", "one.json.gz", "folder/one.json"])
def test_an_episode_is_read_as_it_was_written(name: str, episode: Episode, tmp_path: Path) -> None:
    assert episode.save(tmp_path / name) == tmp_path / name
    assert read_episodes(tmp_path / name) == [episode]


@pytest.mark.parametrize("name", ["several.json", "several.json.gz", "page.html"])
def test_several_episodes_are_read_with_their_title_and_pair(name: str, tmp_path: Path) -> None:
    watched = watch("record", "alert-restore", length=8)
    watched.save(tmp_path / name)
    assert read_data(tmp_path / name) == json.loads(json.dumps(watched.data()))
    again = watch(tmp_path / name)
    assert (again.title, again.pair, again.episodes) == (watched.title, watched.pair, watched.episodes)


def test_the_same_episode_gives_the_same_bytes(
    episode: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(1e9, 1e6)
    monkeypatch.setattr(time, "time", lambda: next(clock))
    files = [episode.save(tmp_path / name).read_bytes() for name in ("a.json.gz", "b.json.gz")]
    assert files[0] == files[1]


def test_keys_of_later_versions_are_passed_over(episode: Episode, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(episode.to_dict() | {"later": 1}))
    assert read_episodes(tmp_path / "x.json") == [episode]


def test_every_cut_of_a_file_is_refused_in_a_sentence(episode: Episode, tmp_path: Path) -> None:
    whole = json.dumps(episode.to_dict()).encode()
    for cut in (*range(0, len(whole), 997), len(whole) - 1):
        (tmp_path / "cut.json").write_bytes(whole[:cut])
        with pytest.raises(UserError, match="is no recording of episodes"):
            read_episodes(tmp_path / "cut.json")
    packed = gzip.compress(whole)
    for cut in (0, 5, len(packed) // 2, len(packed) - 1):
        (tmp_path / "cut.json.gz").write_bytes(packed[:cut])
        with pytest.raises(UserError, match="is no recording of episodes"):
            read_episodes(tmp_path / "cut.json.gz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no recording"),
        (b"\xff\xfe", "is no recording"),
        (b"[" * 100_000, "is no recording"),
        (b'{"total": NaN}', "NaN is no number"),
        (b"[1, 2]", "holds no episodes"),
        (b'{"episodes": []}', "holds no episodes"),
        (b'{"episodes": [3]}', "this is no episode"),
        (b'{"format": "garrison-episode", "version": 2}', "version 2; this Garrison reads version 1"),
        (b'{"format": "garrison-episode", "version": 1}', "it has no agent"),
    ],
)
def test_a_foreign_file_is_refused_in_a_sentence(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "foreign.json").write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_episodes(tmp_path / "foreign.json")


def test_a_page_without_episodes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "foreign.html").write_text("<html>hello</html>")
    with pytest.raises(UserError, match="holds no data"):
        read_episodes(tmp_path / "foreign.html")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.json: No such file"):
        read_episodes(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("seed", -1),
        ("total", "0"),
        ("agent", {}),
        ("names.actions", ["Sleep"]),
        ("names.hosts", [1] * 13),
        ("network.subnet", [3] * 13),
        *((f"state.{name}", "x") for name in STATE_COLUMNS),
        *((f"turn.{name}", "x") for name in TURN_COLUMNS),
        ("state.access", [[0] * 12] * 13),
        ("turn.blue_action", [145] * 12),
        ("turn.blue_action", []),
        ("turn.blue_action", [0] * 11),
        ("turn.reward", [float("1e400")] * 12),
        ("policy.top", [[]] * 11),
        ("metrics", 3),
    ],
)
def test_every_column_is_checked(place: str, value: Any, episode: Episode) -> None:
    values = copy.deepcopy(episode.to_dict())
    *path, last = place.split(".")
    holder = values
    for key in path:
        holder = holder[key]
    holder[last] = value
    with pytest.raises(UserError) as caught:
        Episode.of(values)
    assert last in str(caught.value) or "steps" in str(caught.value) or "rows" in str(caught.value)


def test_other_suffixes_are_refused(episode: Episode, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\.json or \.json\.gz"):
        episode.save(tmp_path / "one.yaml")
    with pytest.raises(UserError, match=r"\.html"):
        watch(episode).save(tmp_path / "one.txt")
