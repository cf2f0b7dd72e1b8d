"""An attacker is trained, scored, continued, and then attacks wherever an attacker is named."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from garrison import cli
from garrison.errors import UserError
from garrison.registration import CAGE2_RED
from garrison.runs.presets import PRESETS, default_preset
from garrison.tasks.registry import EnvConfig, task_of
from tests.helpers.small_reds import TINY, train_red


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_red(tmp_path_factory.mktemp("runs") / "red")


def run(command: str) -> int:
    return cli.main(command.split())


def test_a_run_says_who_defended_and_is_scored_by_reds_return(red: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = json.loads((red / "summary.json").read_text())
    assert summary["env"] == CAGE2_RED
    assert summary["task"] == {"backend": "auto", "blue": "react-restore", "rules": "leaderboard", "length": 100}
    assert summary["evaluation"]["episodes"] == 4
    assert summary["evaluation"]["mean"] > 0
    assert run(f"evaluate {red} --episodes 4") == 0
    assert "Red against react-restore" in capsys.readouterr().out


def test_a_run_goes_on(red: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = train_red(tmp_path / "run")
    assert run(f"train --resume {out} --steps 640 --no-page") == 0
    assert "resuming at step 512" in capsys.readouterr().err
    assert json.loads((out / "summary.json").read_text())["total_timesteps"] == 640


def test_evaluate_plays_it_beside_the_scripted_ones(red: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"evaluate react-restore --red bline,{red} --length 20 --episodes 8 --json") == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["red"] for cell in cells] == ["bline", str(red)]
    assert run(f"evaluate react-restore --red bline,{red} --length 20 --episodes 8") == 0
    table = capsys.readouterr().out.splitlines()
    heading = next(line for line in table if line.startswith("length"))
    assert heading.split() == ["length", "bline", str(red)]


def test_watch_shows_it(red: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"watch react-restore --red {red} --length 8 --out {tmp_path / 'page.json'}") == 0
    assert str(red) in (tmp_path / "page.json").read_text()


def test_blue_trains_against_it_alone_and_in_a_mixture(red: Path, tmp_path: Path) -> None:
    for k, who in enumerate((f"{red}", f"bline:0.5,{red}:0.5")):
        assert run(f"train ppo-mixed --red {who} --steps 256 --out {tmp_path / str(k)} {TINY}") == 0
        assert json.loads((tmp_path / str(k) / "summary.json").read_text())["task"]["red"] == who


def test_several_defenders_share_the_batch(red: Path, tmp_path: Path) -> None:
    train_red(tmp_path / "run", "--blue", "react-restore:0.5,sleep:0.5")


def test_its_presets_and_its_default() -> None:
    assert default_preset(CAGE2_RED).preset == "red-vs-react-restore"
    assert default_preset(CAGE2_RED, "impala").preset == "auto"
    assert PRESETS["red-vs-record"][1].env.blue == "record"
    assert set(task_of(PRESETS["red-vs-record"][1].env).action_kinds() or ()) >= {"Sleep", "Impact"}


RED_SIDE = EnvConfig(env=CAGE2_RED)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"red": "bline"}, "red is Blue's"),
        ({"observation": "memory"}, "observation is Blue's"),
        ({"env": "CartPole-v1", "blue": "record"}, "who defends while Red learns"),
        ({"blue": "a:0.5,b:0.6"}, "sum to 1"),
    ],
)
def test_settings_that_would_be_ignored_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        replace(RED_SIDE, **changes)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--backend serial", "one batch"),
        ("--recurrent-size 8", "remembers only what its observation shows"),
        ("--blue nobody", "no agent, file or folder"),
    ],
)
def test_what_an_attacker_cannot_have_is_a_sentence(
    flags: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"train red-vs-react-restore {flags} --steps 256 --out {tmp_path / 'run'} {TINY}") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
