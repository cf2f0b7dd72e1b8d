"""`garrison watch`: what it writes, says and refuses."""

import json
import webbrowser
from pathlib import Path

import pytest

from garrison import cli, system
from garrison.episodes.episode_files import read_data, read_episodes


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str) -> int:
    return cli.main(command.split())


def written(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def test_a_page_is_written_and_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("watch record --length 12 --seed 7") == 0
    assert written(here) == {"watch-record-meander.html"}
    episode = read_episodes("watch-record-meander.html")[0]
    assert (episode.seed, episode.length, episode.rules, episode.red) == (7, 12, "leaderboard", "meander")
    out = capsys.readouterr().out
    assert f"record against meander, seed 7: total {episode.total:g}" in out
    assert "wrote watch-record-meander.html (" in out


def test_nothing_is_opened_unless_it_is_asked_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert run("watch sleep --length 3") == 0
    assert opened == []
    assert run("watch sleep --length 3 --open") == 0
    assert opened == [(here / "watch-sleep-meander.html").as_uri()]


def test_everything_else_is_written_beside_the_page(here: Path) -> None:
    assert run("watch record --length 3 --out a/b.html --cynex c/x.json --text d/t.txt --png 0 3 --gif") == 0
    assert written(here) == {"a/b.html", "c/x.json", "d/t.txt", "a/b-0.png", "a/b-3.png", "a/b.gif"}
    assert json.loads(Path("c/x.json").read_text())["format_version"] == "2.0"
    assert "adversary: RedMeanderAgent" in Path("d/t.txt").read_text()
    assert Path("a/b-3.png").read_bytes().startswith(b"\x89PNG")
    assert Path("a/b.gif").read_bytes().startswith(b"GIF89a")


def test_json_is_all_that_is_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("watch record --length 8 --json") == 0
    (here / "printed.json").write_text(capsys.readouterr().out)
    assert written(here) == {"printed.json"}
    assert run("watch record --length 8 --json --out page.html") == 0
    assert json.loads(capsys.readouterr().out) == read_data("printed.json") == read_data("page.html")


def test_a_recording_is_read_back(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("watch sleep --against shield --length 6 --out both.json.gz") == 0
    assert written(here) == {"both.json.gz"}
    assert run("watch both.json.gz") == 0
    assert written(here) == {"both.json.gz", "both.html"}
    assert read_data("both.html") == read_data("both.json.gz")
    assert read_data("both.html")["pair"] == {"first_difference": 0}
    capsys.readouterr()
    assert run("watch both.html") == 2
    assert "name another file with --out" in capsys.readouterr().err
    assert run("watch both.html --json") == 0
    assert json.loads(capsys.readouterr().out) == read_data("both.html")
    assert run("watch both.html --out again.json") == 0
    assert read_data("again.json") == read_data("both.html")


def test_the_worst_of_many_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("watch alert-restore --red bline --length 20 --worst 2 --episodes 30 --seed 5") == 0
    labels = [one.label for one in read_episodes("watch-alert-restore-bline.html")]
    assert labels == ["worst of 30", "2nd worst of 30", "median of 30", "best of 30"]
    assert "worst of 30: total" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "steps"),
    [
        ("--what-if", range(6)),
        ("--what-if --top 2", range(6)),
        ("--what-if all", range(6)),
        ("--what-if 2", [1]),
        ("--what-if 1,4-6", [0, 3, 4, 5]),
        ("--top 1", None),
    ],
)
def test_what_if_names_its_turns_as_the_page_does(flags: str, steps: list[int] | None) -> None:
    assert run(f"watch record --length 6 --continuations 2 {flags}") == 0
    found = read_episodes("watch-record-meander.html")[0].what_if
    assert (None if found is None else list(map(int, found["steps"]))) == (None if steps is None else list(steps))


def test_the_same_command_gives_the_same_bytes(here: Path) -> None:
    for name in ("one", "two"):
        assert run(f"watch record --length 10 --sample --what-if 4 --continuations 3 --out {name}.html") == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_a_scripted_agent_follows_an_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("watch greedy-restore --order reverse --red bline --length 30") == 0
    assert "compliance 100% with user → op_host → enterprise → op_server → defender" in capsys.readouterr().out


def test_a_path_becomes_a_name_that_can_be_written(here: Path) -> None:
    from garrison.commands.watch import default_out

    assert str(default_out("runs/my run", "a.b:C")) == "watch-runs-my-run-a.b-C.html"
    assert str(default_out("runs/x/best.garrison", "bline")) == "watch-best-bline.html"
    assert str(default_out("../x", "bline")) == "watch-x-bline.html"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("recrod", "did you mean 'record'?"),
        ("record --red beeline", "did you mean 'bline'?"),
        ("record --red bline,meander", "unknown red 'bline,meander'"),
        ("record --rules hed", "did you mean 'head'?"),
        ("record --length 0", "length"),
        ("record --seed -1", "seeds must lie"),
        ("record --out page.pdf", "--out must end in .html"),
        ("record --what-if 101", "--what-if takes turns from 1 to 100"),
        ("record --what-if 0", "--what-if takes turns from 1 to 100"),
        ("record --what-if 5-", "--what-if takes turns from 1 to 100"),
        ("sleep --what-if 1 --top 3", "sleep has no probabilities"),
        ("record --worst 3 --episodes 2", "of 2 episodes"),
        ("record --against sleep --worst 2", "leave out worst"),
        ("record --against nobody", "no agent, file or folder 'nobody'"),
        ("record --length 5 --png 6", "numbered 0 to 5; got 6"),
        ("record --order sideways", "no order 'sideways'"),
        ("none.json", "No such file"),
        ("broken.json", "is no recording of episodes"),
        ("broken.json --seed 3", "--seed has no effect"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(
    arguments: str, message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "broken.json").write_text('{"format":')
    assert run(f"watch {arguments}") == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
    assert written(here) - {"broken.json"} == set()


def test_pictures_without_matplotlib_name_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "find_spec", lambda name: None)
    assert run("watch sleep --length 3 --gif") == 2
    assert "Matplotlib is not installed" in capsys.readouterr().err
