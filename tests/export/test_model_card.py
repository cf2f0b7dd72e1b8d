"""`garrison export --card` and `--push-to-hub`: what the card says, and what reaches a hub."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from gymnasium import spaces

from garrison import cli
from tests.helpers.fake_hub import fake_hub
from tests.helpers.saved_policies import save_policy
from tests.helpers.small_spaces import NUMBERS

pytest.importorskip("onnxruntime")

TINY = "--envs 16 --rollout 10 --hidden 8 --no-tensorboard --no-page --quiet"


def head_of(card: str) -> Any:
    return yaml.safe_load(card.split("---\n")[1])


def test_a_shipped_agent_has_its_score_rules_command_and_seed(tmp_path: Path) -> None:
    assert cli.main(f"export record --format numpy --card --out {tmp_path}/record.npz".split()) == 0
    card = (tmp_path / "README.md").read_text()
    head = head_of(card)
    assert (head["license"], head["library_name"], head["pipeline_tag"]) == (
        "mit",
        "garrison",
        "reinforcement-learning",
    )
    ((result,),) = [model["results"] for model in head["model-index"]]
    assert result["dataset"]["type"] == "garrison/CAGE2-v0"
    (metric,) = result["metrics"]
    assert metric["type"] == "mean_reward"
    assert float(metric["value"].split(" +/- ")[0]) > -60
    for line in (
        "| rules | leaderboard (trained under leaderboard) |",
        "`garrison train record",
        "| seed |",
        "Player(",
    ):
        assert line in card


def test_a_run_has_its_own_score_and_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.main(f"train ppo-bline --steps 160 --seed 7 --evaluate-episodes 2 --out {tmp_path}/run {TINY}".split()) == 0
    )
    capsys.readouterr()
    command = f"export {tmp_path}/run --format numpy --card --license cc-by-4.0 --json --out {tmp_path}/mine.npz"
    assert cli.main(command.split()) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["card"] == str(tmp_path / "README.md")
    assert said["checked_observations"] == 1000
    card = Path(said["card"]).read_text()
    total = json.loads((tmp_path / "run" / "summary.json").read_text())["evaluation"]["total"]
    assert head_of(card)["license"] == "cc-by-4.0"
    assert head_of(card)["model-index"][0]["results"][0]["metrics"][0]["value"].startswith(f"{total:.2f} +/- ")
    assert "| seed | 7 |" in card
    assert str(tmp_path) not in card
    assert "| made with | garrison " in card


def test_a_checkpoint_alone_is_not_scored_and_a_strange_readme_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = save_policy(tmp_path / "mine.garrison", NUMBERS, spaces.Discrete(2))
    command = f"export {agent} --format numpy --card --out {tmp_path}/mine.npz".split()
    assert cli.main(command) == 0
    card = (tmp_path / "README.md").read_text()
    assert "| score | not scored |" in card
    assert "model-index" not in head_of(card)
    assert head_of(card)["license"] == "unknown"
    assert cli.main(command) == 0  # its own card may be replaced
    (tmp_path / "README.md").write_text("# My project\n")
    assert cli.main(command) == 2
    assert "another README.md" in capsys.readouterr().err
    assert (tmp_path / "README.md").read_text() == "# My project\n"


def test_file_player_and_card_reach_the_hub_in_one_commit_with_the_users_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    agent = save_policy(tmp_path / "mine.garrison", NUMBERS, spaces.Discrete(2))
    command = f"export {agent} --format numpy --out {tmp_path}/mine.npz --push-to-hub me/mine --private".split()
    with fake_hub() as (address, requests):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        assert cli.main(command) == 0
    assert f"uploaded to {address}/me/mine" in capsys.readouterr().out
    assert {request["token"] for request in requests if "/api/models/" in request["path"]} == {"Bearer hf_mine"}
    created = next(json.loads(request["body"]) for request in requests if request["path"] == "/api/repos/create")
    assert (created["name"], created["visibility"]) == ("mine", "private")
    (commit,) = (request["body"] for request in requests if "/commit/" in request["path"])
    files = {
        entry["value"]["path"]: base64.b64decode(entry["value"]["content"])
        for entry in map(json.loads, commit.splitlines())
        if entry["key"] == "file"
    }
    assert files == {name: (tmp_path / name).read_bytes() for name in ("mine.npz", "mine_player.py", "README.md")}


def test_a_hub_that_refuses_and_a_missing_token_are_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    agent = save_policy(tmp_path / "mine.garrison", NUMBERS, spaces.Discrete(2))
    command = f"export {agent} --format numpy --out {tmp_path}/mine.npz --push-to-hub".split()
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    assert cli.main([*command, "me/mine"]) == 2
    assert "hf auth login" in capsys.readouterr().err
    assert cli.main([*command, "mine"]) == 2
    assert "USER/NAME" in capsys.readouterr().err
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    with fake_hub(refuse=True) as (address, _):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        assert cli.main([*command, "me/mine"]) == 1
    said = capsys.readouterr().err
    assert "the upload to me/mine failed" in said
    assert f"The files are in {tmp_path}" in said
