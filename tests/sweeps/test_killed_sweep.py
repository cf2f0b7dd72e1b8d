"""A real sweep in real processes: killed in the middle, continued by the same command, and as a job array of SLURM."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from garrison import cli
from garrison.runs import train
from garrison.runs.experiment_file import load_config
from garrison.runs.folder import RunFolder
from garrison.storage.checkpoint import load
from garrison.storage.lock import holder
from tests.helpers.processes import descendants, eventually, gone

pytestmark = pytest.mark.long

TINY = "--envs 16 --rollout 20 --hidden 8 --minibatches 1 --epochs 1 --no-tensorboard --no-page --evaluate-episodes 2"
CAGE2 = f"sweep ppo-bline --seeds 2 --jobs 1 {TINY} --steps 64000 --checkpoint-every 0.01"
"""As a sweep of CAGE-2 it goes on bit for bit."""


def rows(sweep: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((sweep / "table.csv").read_text().splitlines()))


def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    command = [sys.executable, "-m", "garrison", *CAGE2.split(), "--out", str(killed)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    first = RunFolder(killed / "runs" / "0000-seed-0")
    assert eventually(lambda: first.checkpoint.exists())
    children = descendants(process.pid)
    assert children
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert gone(children)  # they have noticed
    assert holder(first.path) is None
    assert first.read_summary().get("status") != "finished"
    done = load(first.path)["state"]["steps"]
    assert done > 0

    assert cli.main([*CAGE2.split(), "--out", str(killed), "--quiet"]) == 0
    assert [row["state"] for row in rows(killed)] == ["finished", "finished"]
    alone = train(load_config(first.config), tmp_path / "alone", progress=False)  # the same run, never stopped
    assert rows(killed)[0]["score"] == str(alone.summary["evaluation"]["total"])
    marks = [json.loads(line) for line in (first.path / "marks.jsonl").read_text().splitlines()]
    assert [mark["step"] for mark in marks if mark["what"] == "resumed"] == [done]
    for seed in (0, 1):
        steps = [row["step"] for row in RunFolder(killed / "runs" / f"0000-seed-{seed}").read_metrics()]
        assert steps == sorted(set(steps))


def test_the_scripts_for_slurm_train_every_run_and_merge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a sweep"
    flags = f"--seeds 2 --slurm {TINY} --steps 640".split()
    assert cli.main(["sweep", "ppo-bline", *flags, "--out", str(out)]) == 0
    assert f"sbatch --dependency=afterany:$(sbatch --parsable '{out}/array.sbatch')" in capsys.readouterr().out
    script = (out / "array.sbatch").read_text()
    assert "#SBATCH --array=0-1\n" in script
    assert not (out / "runs").exists()
    for task in ("1", "0"):
        subprocess.run(["bash", str(out / "array.sbatch")], env=os.environ | {"SLURM_ARRAY_TASK_ID": task}, check=True)
        assert not (out / "table.csv").exists()
    subprocess.run(["bash", str(out / "merge.sbatch")], stdout=subprocess.DEVNULL, check=True)
    assert [(row["seed"], row["state"]) for row in rows(out)] == [("0", "finished"), ("1", "finished")]
    assert (out / "index.html").is_file()
    assert (out / "best.yaml").is_file()
