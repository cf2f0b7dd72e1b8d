"""Whole episodes as the score of any run: at its end, during it, and where there is none to be had."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.cluster import connection
from garrison.storage import checkpoint
from garrison.tasks import episode_score
from garrison.tasks.registry import EnvConfig, task_of

TINY = "--envs 4 --rollout 32 --hidden 8 --epochs 1 --minibatches 1 --backend serial --no-tensorboard --quiet"


def train(out: Path, flags: str = "") -> int:
    return cli.main(f"train --env CartPole-v1 --steps 256 {TINY} --out {out} {flags}".split())


def summary(out: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((out / "summary.json").read_text())
    return found


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scored") / "run"
    assert train(out, "--evaluate-every 128") == 0
    return out


def test_a_run_on_any_environment_ends_with_the_score_that_evaluate_gives(
    cartpole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", str(cartpole), "--episodes", "32", "--json"]) == 0
    assert summary(cartpole)["evaluation"] == json.loads(capsys.readouterr().out)


def test_scores_during_training_keep_the_best_checkpoint(cartpole: Path) -> None:
    rows = [json.loads(line) for line in (cartpole / "metrics.jsonl").read_text().splitlines()]
    scores = {row["step"]: row["evaluation/mean"] for row in rows if "evaluation/mean" in row}
    assert list(scores) == [128, 256]
    best = checkpoint.load(cartpole / "best.garrison")
    assert best["total"] == max(scores.values()) == scores[best["state"]["steps"]]


def test_a_resumed_run_keeps_the_best_checkpoint_of_its_earlier_part(tmp_path: Path) -> None:
    out, best = tmp_path / "run", tmp_path / "run" / "best.garrison"
    assert train(out, "--evaluate-every 128 --evaluate-episodes 0") == 0
    checkpoint.save(best, checkpoint.load(best) | {"total": 501.0})  # better than any CartPole
    before = best.read_bytes()
    assert cli.main(["train", "--resume", str(out), "--steps", "512", "--quiet"]) == 0
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows if "evaluation/mean" in row] == [128, 256, 384, 512]
    assert best.read_bytes() == before


def test_an_environment_without_end_has_no_score_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(episode_score, "LONGEST", 20)
    flags = f"--env tests.helpers.faulty_envs:Faulty --steps 128 {TINY.replace('--quiet', '')} --evaluate-every 128"
    assert cli.main([*f"train {flags} --out {tmp_path / 'run'}".split()]) == 0
    said = capsys.readouterr()
    assert "step 128: there is no score: an episode of tests.helpers.faulty_envs:Faulty had not ended" in said.err
    assert "max_episode_steps" in said.out.splitlines()[-1]
    assert "had not ended after 20 steps" in str(summary(tmp_path / "run")["unscored"])
    assert "evaluation" not in summary(tmp_path / "run")
    assert not (tmp_path / "run" / "best.garrison").exists()
    assert cli.main(["evaluate", str(tmp_path / "run")]) == 1


def test_a_score_needs_no_cluster(cartpole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "load", lambda: pytest.fail("asked for Ray"))
    task = task_of(EnvConfig(env="CartPole-v1", backend="ray"))
    assert task.final_score(checkpoint.load(cartpole), "run", 2).summary["evaluation"]["episodes"] == 2
