"""`garrison train` from the outside: the folder it leaves, repeating, resuming, interrupting and failing."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.cage2.layout import STATE
from garrison.cage2.names import Red
from garrison.runs import folder
from garrison.runs.experiment_file import load_experiment
from garrison.runs.recorder import Recorder
from garrison.storage import checkpoint
from garrison.system import install
from tests.helpers.processes import HANG, eventually

TINY = "--envs 16 --rollout 10 --hidden 16 --minibatches 2 --epochs 2 --evaluate-episodes 5 --no-tensorboard --quiet"


def run(command: str) -> int:
    return cli.main(command.split())


def train(out: Path, flags: str = "", source: str = "ppo-mixed") -> int:
    return run(f"train {source} --out {out} --steps 640 {TINY} {flags}")


def weights(out: Path) -> Any:
    return checkpoint.load(out)["state"]["weights"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "finished"
    assert train(out, "--tensorboard --evaluate-every 320") == 0
    return out


def test_a_run_is_a_folder(finished: Path) -> None:
    names = {path.name.partition(".tfevents")[0] for path in finished.iterdir()}
    assert names == {
        "config.yaml",
        "versions.json",
        "metrics.jsonl",
        "marks.jsonl",
        "index.html",
        "watch.html",
        "events.out",
        "checkpoint.garrison",
        "best.garrison",
        "summary.json",
    }
    experiment = load_experiment(finished / "config.yaml")
    assert (experiment.env.envs, experiment.learner.steps, experiment.learner.policy.hidden) == (16, 640, (16,))
    versions = json.loads((finished / "versions.json").read_text())
    assert {"garrison", "python", "torch", "numpy", "numba", "gymnasium", "cores", "command"} <= versions.keys()


def test_metrics_have_one_line_an_update_under_the_users_names(finished: Path) -> None:
    rows = [json.loads(line) for line in (finished / "metrics.jsonl").read_text().splitlines()]
    updates = [row for row in rows if "time/fps" in row]
    assert [row["step"] for row in updates] == [160, 320, 480, 640]
    evaluations = [row for row in rows if "evaluation/total" in row]
    assert [row["step"] for row in evaluations] == [320, 640]
    cells = [value for name, value in evaluations[0].items() if re.fullmatch(r"evaluation/[a-z]+_\d+", name)]
    assert len(cells) == 9
    assert evaluations[0]["evaluation/total"] == pytest.approx(sum(cells))
    wanted = {
        "time/elapsed_time",
        "train/policy_loss",
        "train/value_loss",
        "train/entropy",
        "train/approx_kl",
        "train/clip_fraction",
        "time_split/act",
        "time_split/learn",
        "system/peak_memory_gb",
    }
    assert wanted <= updates[0].keys()


def test_the_summary_has_the_official_cells_and_the_action_mix(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    assert (summary["status"], summary["total_timesteps"], summary["total_updates"]) == ("finished", 640, 4)
    assert len(summary["evaluation"]["cells"]) == 9
    assert summary["evaluation"]["rules"] == "leaderboard"
    for shares in summary["action_mix"].values():
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-3)
    assert summary["checkpoint_step"] == 640


@pytest.mark.parametrize("name", ["", "checkpoint.garrison", "best.garrison"])
def test_a_folder_and_its_checkpoints_can_be_evaluated(
    finished: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"evaluate {finished / name} --episodes 5 --json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rules"] == "leaderboard"  # those it was trained under
    if name != "best.garrison":
        assert result["cells"] == json.loads((finished / "summary.json").read_text())["evaluation"]["cells"]


def test_tensorboard_reads_the_events(finished: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(finished)).Reload()
    assert [event.step for event in events.Scalars("train/policy_loss")] == [160, 320, 480, 640]


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert train(tmp_path / name, f"--seed {seed}") == 0
    assert np.array_equal(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not np.array_equal(weights(tmp_path / "a"), weights(tmp_path / "c"))


@pytest.mark.parametrize("flags", ["", "--recurrent-size 8", "--no-action-masks", "--observation bits --actions all"])
def test_a_run_that_was_stopped_and_resumed_equals_one_that_was_not(
    tmp_path: Path, flags: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train(tmp_path / "whole", flags) == 0
    stopping = iter([False, False, True])
    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "stop", property(lambda self: next(stopping)))
        assert train(tmp_path / "parts", flags) == 0
    assert checkpoint.load(tmp_path / "parts")["state"]["steps"] == 320
    assert run(f"train --resume {tmp_path / 'parts'} --quiet") == 0
    whole, parts = (checkpoint.load(tmp_path / name) for name in ("whole", "parts"))
    assert np.array_equal(whole["state"]["weights"], parts["state"]["weights"])
    assert whole["state"]["recent_returns"] == parts["state"]["recent_returns"]
    assert np.array_equal(whole["state"]["collector"]["envs"], parts["state"]["collector"]["envs"])
    steps = [json.loads(line)["step"] for line in (tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()]
    assert steps == [160, 320, 480, 640]


@pytest.mark.parametrize("length", ["--steps 640", "--duration 1s"])
def test_resuming_a_finished_run_says_so_and_writes_nothing(
    tmp_path: Path, length: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"train ppo-mixed --out {tmp_path / 'run'} {TINY} {length}") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert run(f"train --resume {tmp_path / 'run'} --quiet") == 2
    error = capsys.readouterr().err
    assert "the run is finished: it has" in error
    assert f"give it more in all, such as {length.partition(' ')[0]}" in error
    assert {path: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_a_run_that_was_killed_before_its_summary_is_finished_by_resuming(tmp_path: Path) -> None:
    assert train(tmp_path / "run") == 0
    (tmp_path / "run" / "summary.json").unlink()
    assert run(f"train --resume {tmp_path / 'run'} --quiet") == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["total_timesteps"] == 640


def test_the_last_words_of_a_run_of_few_updates_say_that_its_score_means_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run") == 0
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("there were only 4 updates of the weights, so the score means nothing yet: train longer.")
    )


def test_resuming_drops_metrics_that_came_after_the_checkpoint(tmp_path: Path) -> None:
    assert train(tmp_path / "run") == 0
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 800, "time/elapsed_time": 1.0}\n{"step": 960, "ti')  # written, then the machine went down
    assert run(f"train --resume {tmp_path / 'run'} --steps 960 --quiet") == 0
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [160, 320, 480, 640, 800, 960]


def test_resuming_against_another_attacker_begins_new_episodes_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run", "--red bline") == 0
    assert run(f"train --resume {tmp_path / 'run'} --red sleep --steps 960 --quiet") == 0
    error = capsys.readouterr().err
    assert "other settings than before (env.red, ppo.steps)" in error
    assert "so new ones begin" in error
    envs = checkpoint.load(tmp_path / "run")["state"]["collector"]["envs"].view(STATE)
    assert (envs["red"] == Red.SLEEP).all()


def test_a_checkpoint_whose_episodes_have_another_layout_begins_new_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run") == 0
    values = checkpoint.load(tmp_path / "run")
    checkpoint.save(tmp_path / "run" / checkpoint.NAME, {**values, "layout": "of a later version"})
    assert run(f"train --resume {tmp_path / 'run'} --steps 960 --quiet") == 0
    assert "keeps episodes in another form" in capsys.readouterr().err


def test_a_gymnasium_environment_trains_on_a_backend_and_says_that_resuming_is_not_exact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = f"--steps 512 --envs 4 --backend serial --quiet --no-tensorboard --out {tmp_path / 'run'}"
    assert run(f"train ppo-cartpole {flags}") == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["performance"]["final_reward"] > 5
    assert run(f"train --resume {tmp_path / 'run'} --steps 1024 --quiet") == 0
    assert "new episodes begin: not bit for bit" in capsys.readouterr().err
    assert run(f"evaluate {tmp_path / 'run'} --episodes 2") == 0
    assert "CartPole-v1" in capsys.readouterr().out


def test_a_duration_ends_the_run_and_drives_the_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorder, "seconds", property(lambda self: 0.1 * self._step / 160))  # an update takes 0.1 s
    assert train(tmp_path / "run", "--duration 1.2s") == 0
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["step"] == 12 * 160  # not 640, the steps that were asked for too
    rates = [row["train/learning_rate"] for row in rows]
    assert rates[0] > 0.001
    assert rates == pytest.approx([rates[0] * (12 - k) / 12 for k in range(12)])


# --- what can go wrong


def test_a_run_is_not_overwritten(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (finished / "checkpoint.garrison").read_bytes()
    assert train(finished) == 2
    assert f"continue it with --resume {finished}" in capsys.readouterr().err
    assert (finished / "checkpoint.garrison").read_bytes() == before


def test_a_place_that_cannot_be_written_is_reported_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert train(tmp_path / "file" / "run") == 2
    assert re.search("cannot write to .*: Not a directory", capsys.readouterr().err)


def test_a_nearly_full_disk_is_reported_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=3_000_000)
    monkeypatch.setattr(folder.shutil, "disk_usage", lambda path: usage)
    assert train(tmp_path / "run") == 2
    assert "only 3 MB are free" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_wrong_settings_leave_no_folder_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "run", "--env CartPol-v1") == 2
    assert "Did you mean: `CartPole`" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_settings_that_the_learner_refuses_leave_no_folder_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = f"--out {tmp_path / 'run'} --envs 2 --backend serial --quiet --action-masks"
    assert run(f"train ppo-cartpole {flags}") == 2
    assert "'action_mask' entry" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert run(f"train --backend serial --envs 2 --quiet --out {tmp_path / 'run'}") == 2
    assert "--no-action-masks" in capsys.readouterr().err


def test_cage2_trains_on_a_backend_for_python_environments(tmp_path: Path) -> None:
    """The same seed, the same steps, another way to get them: the same weights."""
    flags = "--no-action-masks --envs 4 --steps 120 --seed 3"
    for backend in ("native", "serial"):
        assert train(tmp_path / backend, f"{flags} --backend {backend}") == 0
    assert np.array_equal(weights(tmp_path / "native"), weights(tmp_path / "serial"))


def test_a_disk_that_fills_up_costs_the_new_checkpoint_and_keeps_the_old(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save, calls = checkpoint.save, []

    def filling_up(path: Path, values: dict[str, Any]) -> int:
        calls.append(values["state"]["steps"])
        if len(calls) == 1:
            return save(path, values)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
            return save(path, values)

    monkeypatch.setattr(checkpoint, "save", filling_up)
    assert train(tmp_path / "run", "--checkpoint-every 1e-9") == 1
    assert calls == [160, 320, 480, 640, 640]
    error = capsys.readouterr().err
    assert "step 320 could not be written (No space left on device); the one of step 160 is kept." in error
    assert "step 480 could not be written (No space left on device); the one of step 160 is kept." in error
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["checkpoint_step"] == 160
    assert checkpoint.load(tmp_path / "run")["state"]["steps"] == 160
    assert not list((tmp_path / "run").glob(".*"))


def test_a_loss_that_is_not_finite_stops_the_run_with_the_last_good_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run", "--learning-rate 1e30 --learning-rate-schedule constant") == 1
    error = capsys.readouterr().err
    assert re.search(r"not finite .*update \d+", error)
    assert "last good checkpoint" in error
    assert np.isfinite(weights(tmp_path / "run")).all()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["status"] == "diverged"
    assert "not finite" in summary["message"]


def test_an_environment_that_fails_leaves_a_summary_and_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from garrison.cage2 import VectorEnv

    step, left = VectorEnv.step, iter(range(25))

    def failing(self: Any, actions: Any) -> Any:
        if next(left, None) is None:
            raise RuntimeError("the environment is broken")
        return step(self, actions)

    monkeypatch.setattr(VectorEnv, "step", failing)
    with pytest.raises(RuntimeError, match="the environment is broken"):
        train(tmp_path / "run", "--checkpoint-every 1e-9")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["status"], summary["message"]) == ("failed", "RuntimeError: the environment is broken")
    assert checkpoint.load(tmp_path / "run")["state"]["steps"] == 320


def test_missing_torch_is_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run("train") == 2
    assert f"PyTorch is not installed: {install('train')}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"), [("--envs 17", "the run has 16"), ("--hidden 8", "the run's network has [16]")]
)
def test_resuming_with_settings_that_do_not_fit_is_an_error(
    tmp_path: Path, flags: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path / "run") == 0
    assert run(f"train --resume {tmp_path / 'run'} --steps 960 --quiet {flags}") == 2
    assert message in capsys.readouterr().err
    assert checkpoint.load(tmp_path / "run")["state"]["steps"] == 640
    assert run(f"train --resume {tmp_path / 'run'} --steps 960 --quiet") == 0  # nothing was spoiled


def test_a_run_of_a_version_with_fewer_settings_is_resumed_with_their_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert train(out) == 0
    values = checkpoint.load(out)
    for name in ("continuous_actions", "log_std_init"):
        del values["policy"]["config"][name]
        del values["experiment"]["ppo"]["policy"][name]
    checkpoint.save(out / checkpoint.NAME, values)
    capsys.readouterr()
    assert run(f"train --resume {out} --steps 960") == 0
    assert "with other settings than before (ppo.steps)" in capsys.readouterr().err
    assert run(f"train --resume {out} --steps 1920 --log-std-init 1 --quiet") == 2
    assert "the run's network has 0.0" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_not_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path / "run") == 0
    path = tmp_path / "run" / "checkpoint.garrison"
    path.write_bytes(path.read_bytes()[:-100])
    assert run(f"train --resume {tmp_path / 'run'} --quiet") == 2
    assert "is damaged" in capsys.readouterr().err


# --- interrupts: a real process and real signals


def start(out: Path) -> "subprocess.Popen[str]":
    command = f"train ppo-mixed --out {out} --steps 1000000000 {TINY} --checkpoint-every 1000"
    code = "import sys; from garrison.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command.split()], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    file = out / "metrics.jsonl"
    assert eventually(lambda: process.poll() is not None or (file.exists() and file.stat().st_size > 0))
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_run_cleanly_with_a_checkpoint_that_resumes(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    process = start(tmp_path / "run")
    process.send_signal(number)
    _, error = process.communicate(timeout=HANG)
    assert process.returncode == code
    assert "finishing this update" in error
    assert f"garrison train --resume {tmp_path / 'run'}" in error
    assert "Traceback" not in error
    steps = checkpoint.load(tmp_path / "run")["state"]["steps"]
    rows = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert steps == json.loads(rows[-1])["step"]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["status"], summary["checkpoint_step"]) == ("interrupted", steps)
    assert run(f"train --resume {tmp_path / 'run'} --steps {steps + 320} --quiet") == 0
    assert checkpoint.load(tmp_path / "run")["state"]["steps"] == steps + 320
