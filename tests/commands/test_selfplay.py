"""`garrison selfplay`: generations in turns, continued where it stopped, and a matrix at the end."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.runs import session
from garrison.runs.generations import GenerationRun, SelfPlayConfig, opponents, read_settings

SMALL = "--steps 400 --envs 4 --length 10 --episodes 2"


def run(command: str) -> int:
    return cli.main(command.split())


@pytest.mark.long
def test_generations_are_runs_and_everybody_meets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "play"
    real, begun = session.run, []

    def stopping(experiment: object, name: str, *rest: object, **more: object) -> object:
        begun.append(name)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return real(experiment, name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(session, "run", stopping)
    assert run(f"selfplay --out {out} --generations 1 --quiet {SMALL}") == 0
    assert begun == ["red-1", "blue-1"]
    assert run(f"selfplay --resume {out} --generations 2 --quiet") == 130
    assert not (out / "red-2" / "summary.json").exists()
    assert run(f"selfplay --resume {out} --json") == 0
    assert begun == ["red-1", "blue-1", "red-2", "red-2", "blue-2"]

    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((out / "payoffs.json").read_text())
    assert printed["blues"] == ["react-restore", f"{out}/blue-1", f"{out}/blue-2"]
    assert printed["reds"] == ["bline", "meander", f"{out}/red-1", f"{out}/red-2"]
    assert [len(row) for row in printed["means"]] == [4, 4, 4]
    summaries = {name: json.loads((out / name / "summary.json").read_text()) for name in dict.fromkeys(begun)}
    assert all(summary["status"] == "finished" for summary in summaries.values())
    assert summaries["red-2"]["task"]["blue"] == f"react-restore,{out}/blue-1"
    assert summaries["blue-2"]["task"]["red"] == f"bline,meander,{out}/red-1,{out}/red-2"
    page = (out / "index.html").read_text()
    assert "red-2/index.html" in page
    assert "What Red gets" in page
    assert read_settings(out).generations == 2


def test_opponents_are_those_named_and_the_newest() -> None:
    config, folder = SelfPlayConfig(population=2), Path("runs/x")
    assert opponents(config, folder, GenerationRun("red", 1)) == ["react-restore"]
    assert opponents(config, folder, GenerationRun("blue", 1)) == ["bline", "meander", "runs/x/red-1"]
    assert opponents(config, folder, GenerationRun("red", 4)) == ["react-restore", "runs/x/blue-2", "runs/x/blue-3"]
    assert opponents(config, folder, GenerationRun("blue", 4))[2:] == ["runs/x/red-3", "runs/x/red-4"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--generations 0", "generations must be at least 1"),
        ("--episodes 1", "episodes must be at least 2"),
        ("--blue nobody", "no agent, file or folder"),
        ("--red nobody", "unknown red"),
        ("--rules none", "unknown rules"),
        ("--seed -9", "seed"),
    ],
)
def test_wrong_settings_are_a_sentence_and_leave_nothing(
    flags: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = run(f"selfplay --out {tmp_path / 'play'} {flags}")
    except SystemExit as end:  # what the parser refuses
        code = end.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "play").exists()


def test_a_folder_that_is_none_of_self_play_is_not_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"selfplay --resume {tmp_path}") == 2
    assert "no folder of self-play" in capsys.readouterr().err
    (tmp_path / "something").touch()
    assert run(f"selfplay --out {tmp_path}") == 2
    assert "is not empty" in capsys.readouterr().err
