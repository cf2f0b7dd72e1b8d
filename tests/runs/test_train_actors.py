"""`garrison train` with learners that have actors: the same promises as for PPO."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from garrison import cli
from garrison.errors import UserError
from garrison.runs.experiment_file import read_experiment
from tests.helpers.processes import HANG, descendants, gone

QUICK = "--envs 4 --rollout 16 --compute autograd --no-tensorboard"


@pytest.mark.parametrize("preset", ["impala-cartpole", "a3c-cartpole"])
def test_a_run_is_trained_recorded_and_resumed(preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert cli.main(f"train {preset} {QUICK} --actors 1 --steps 2000 --out {out}".split()) == 0
    algorithm = preset.split("-")[0]
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["status"], summary["training_mode"], summary["total_envs"]) == ("finished", algorithm, 4)
    assert summary["total_timesteps"] >= 2000
    assert set(yaml.safe_load((out / "config.yaml").read_text())) == {"preset", "env", "run", algorithm}
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["train/actors"] == 1
    assert rows[-1]["train/policy_lag"] >= 0
    assert cli.main(f"train --resume {out} --steps 4000".split()) == 0
    assert "new episodes begin" in capsys.readouterr().err
    assert json.loads((out / "summary.json").read_text())["total_timesteps"] >= 4000


def test_one_process_repeats_bit_for_bit(tmp_path: Path) -> None:
    for name in ("a", "b"):
        arguments = f"train impala-bline {QUICK} --actors 0 --threads 1 --steps 640 --evaluate-episodes 0 --quiet"
        assert cli.main([*arguments.split(), "--out", str(tmp_path / name)]) == 0
    first, second = (
        [{key: row[key] for key in ("step", "train/policy_loss", "train/grad_norm")} for row in rows]
        for rows in (
            [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
            for name in ("a", "b")
        )
    )
    assert first == second
    assert len(first) > 1


def test_ctrl_c_ends_the_actors_and_keeps_a_checkpoint(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = f"-m garrison train impala-cartpole {QUICK} --actors 2 --steps 1000000000 --out {out}"
    with subprocess.Popen([sys.executable, *command.split()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        while not (out / "metrics.jsonl").exists() or not (out / "metrics.jsonl").read_text():
            assert run.poll() is None
            time.sleep(0.05)
        family = descendants(run.pid)
        os.kill(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=HANG)
    assert run.returncode == 130
    assert b"Continue with: garrison train --resume" in said
    assert (out / "checkpoint.garrison").exists()
    assert len(family) >= 2
    assert gone(family)


def test_a_cluster_needs_something_to_put_on_it() -> None:
    with pytest.raises(UserError, match="add --backend ray, or choose an impala preset"):
        read_experiment({"run": {"cluster": "local"}, "ppo": {"gamma": 0.5}})
    assert read_experiment({"run": {"cluster": "local"}, "impala": {"gamma": 0.5}}).run.cluster == "local"


def test_one_learner_a_file() -> None:
    with pytest.raises(UserError, match="a run has one learner; the file has settings for ppo and impala"):
        read_experiment({"ppo": {"gamma": 0.5}, "impala": {"gamma": 0.5}})
    with pytest.raises(UserError, match=r"unknown setting 'impala.gae_lambda'"):
        read_experiment({"impala": {"gae_lambda": 0.5}})
    experiment = read_experiment({"a3c": {"gamma": 0.5}})
    assert (experiment.algorithm, experiment.learner.gamma) == ("a3c", 0.5)
