"""Weights & Biases, MLflow and TensorBoard themselves, without a network: what they have written is read back."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from garrison.trackers import TrackedRun
from garrison.trackers.together import Trackers, find_trackers

CONFIG = {"preset": "none", "ppo": {"steps": 100, "policy": {"hidden": [64, 64]}}}
VERSIONS = {"garrison": "1.0"}
SUMMARY = {"status": "finished", "total_timesteps": 20, "evaluation": {"total": -50.5, "rules": "head"}}
QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}
"""So that nothing tries to reach a network."""
TWO_PARTS = f"""
import sys
from pathlib import Path
from garrison.trackers import TrackedRun
from garrison.trackers.together import Trackers, find_trackers

folder = Path(sys.argv[2])
(folder / "checkpoint.garrison").write_bytes(b"weights")
for first_step, config in ((0, {CONFIG!r}), (20, {CONFIG | {"ppo": {"steps": 200}}!r})):
    run = TrackedRun("mine", config, {VERSIONS!r}, folder, first_step)
    trackers = Trackers(find_trackers([sys.argv[1]]), run)
    said = []
    for step in (10, 20):
        said += trackers.log({{"step": first_step + step, "train/entropy": 0.5 * step, "evaluation/total": -60.0}})
    said += trackers.finish({SUMMARY!r}, folder / "checkpoint.garrison")
    assert said == [], said
"""


def track_two_parts(name: str, folder: Path, **environment: str) -> None:
    """Track a run and its resumed part in a process of its own, where the library finds these variables."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("WANDB_", "MLFLOW_"))}
    subprocess.run(
        [sys.executable, "-c", TWO_PARTS, name, str(folder)],
        cwd=folder,
        env=kept | QUIET | environment,
        check=True,
        timeout=120,
    )


def test_wandb_offline_has_both_parts_under_one_id(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    track_two_parts("wandb", tmp_path, WANDB_MODE="offline")
    runs = sorted((tmp_path / "wandb").glob("offline-run-*/run-*.wandb"))
    known_as = json.loads((tmp_path / "trackers.json").read_text())["wandb"]
    assert [run.name for run in runs] == [f"run-{known_as}.wandb"] * 2
    rows, summary, config = _read_wandb(runs[0])
    assert [row["step"] for row in rows] == [10, 20]
    assert [row["train/entropy"] for row in rows] == [5.0, 10.0]
    assert summary["evaluation.total"] == -50.5
    assert config["ppo"]["policy"] == {"hidden": [64, 64]}
    assert config["versions"] == VERSIONS
    assert [row["step"] for row in _read_wandb(runs[1])[0]] == [30, 40]


@pytest.mark.long
def test_wandb_without_a_login_is_off_with_a_sentence_and_asks_nobody(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    code = TWO_PARTS.replace("assert said == [], said", "print(*said)")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WANDB_")}
    done = subprocess.run(
        [sys.executable, "-c", code, "wandb", str(tmp_path)],
        env=kept
        | QUIET
        | {"HOME": str(tmp_path), "NETRC": str(tmp_path / "none"), "WANDB_BASE_URL": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert "nobody is logged in: run wandb login, or set WANDB_MODE=offline" in done.stdout


def test_mlflow_in_a_folder_has_both_parts_in_one_run(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    store = (tmp_path / "store").as_uri()
    track_two_parts("mlflow", tmp_path, MLFLOW_TRACKING_URI=store, MLFLOW_ALLOW_FILE_STORE="true")
    (run,) = (tmp_path / "store").glob("*/*/params/..")
    parameters = {file.name: file.read_text() for file in (run / "params").iterdir()}
    assert parameters["ppo.policy.hidden"] == "[64, 64]"
    assert parameters["versions.garrison"] == "1.0"
    assert parameters["ppo.steps"] == "100"
    assert (run / "tags" / "resumed.ppo.steps").read_text() == "200"
    points = (run / "metrics" / "train" / "entropy").read_text().splitlines()
    assert [tuple(map(float, line.split()[1:])) for line in points] == [(5, 10), (10, 20), (5, 30), (10, 40)]
    assert (run / "metrics" / "summary.evaluation.total").exists()
    assert {file.name for file in (run / "artifacts").iterdir()} == {"summary.json", "checkpoint.garrison"}


@pytest.mark.long
def test_mlflow_in_a_database(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    pytest.importorskip("alembic")
    import sqlite3

    track_two_parts("mlflow", tmp_path, MLFLOW_TRACKING_URI=f"sqlite:///{tmp_path}/mlflow.db")
    with sqlite3.connect(tmp_path / "mlflow.db") as database:
        rows = database.execute("select step, value from metrics where key = 'train/entropy' order by step").fetchall()
        runs = database.execute("select name, status from runs").fetchall()
    database.close()
    assert rows == [(10, 5.0), (20, 10.0), (30, 5.0), (40, 10.0)]
    assert runs == [("mine", "FINISHED")]


def test_tensorboard_has_settings_metrics_and_summary(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for first_step in (0, 10):
        run = TrackedRun("mine", CONFIG, VERSIONS, tmp_path, first_step)
        trackers = Trackers(find_trackers([], tensorboard=True), run)
        said = [
            *trackers.log({"step": first_step + 10, "a/b": 1.0}),
            *trackers.log({"step": first_step + 20, "a/b": 2.0}),
        ]
        assert said + trackers.finish(SUMMARY) == []
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [(point.step, point.value) for point in events.Scalars("a/b")] == [(10, 1.0), (20, 1.0), (30, 2.0)]
    assert events.Scalars("summary/evaluation.total")[-1].value == -50.5
    assert {"config/text_summary", "versions/text_summary", "summary/text_summary"} <= set(events.Tags()["tensors"])


def _read_wandb(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    """Return the rows, the summary and the settings in a file of an offline run."""
    from wandb.proto import wandb_internal_pb2

    rows: list[dict[str, Any]] = []
    summary: dict[str, Any] = {}
    config: dict[str, Any] = {}
    for data in _log_records(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.HasField("history"):
            rows.append({_name(item): json.loads(item.value_json) for item in record.history.item})
        if record.HasField("summary"):
            summary |= {_name(item): json.loads(item.value_json) for item in record.summary.update}
        if record.HasField("run"):
            config |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
    return rows, summary, config


def _log_records(data: bytes) -> Iterator[bytes]:
    """Yield the records of a file in LevelDB's log format: blocks of 32 kB, records in pieces with a header each."""
    at, record = 7, b""  # behind the file's own header
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            yield record
            record = b""


def _name(item: Any) -> str:
    return str(item.key or "/".join(item.nested_key))
