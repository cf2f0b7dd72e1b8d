"""`garrison workflow train` from the outside, and what it is made of: inheritance, tracking, settings."""

import csv
import dataclasses
import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.commands.workflow_train import title_of
from garrison.errors import UserError
from garrison.report.workflow_tables import TRAINING_COLUMNS
from garrison.runs import session
from garrison.runs.recorder import Recorder
from garrison.storage import checkpoint
from garrison.workflow.inherit import Trained, nearest, trained_in
from garrison.workflow.orders import CANONICAL, index_of, kendall_matrix, label, one_hot
from garrison.workflow.settings import TRAIN, SearchConfig, WorkflowConfig, WorkflowExperiment
from garrison.workflow.stopping import Stopper, StopRules
from garrison.workflow.tracking import ComplianceTracker, workflow_metrics
from garrison.workflow.workflow_task import spread

TINY = "--envs 12 --length 10 --rollout 10 --hidden 8 --minibatches 2 --epochs 1 --evaluate-episodes 4 --no-tensorboard"


def train(orders: str, out: Path, flags: str = "") -> int:
    return cli.main(f"workflow train {orders} --out {out} --episodes 48 {TINY} --quiet {flags}".split())


def weights(path: Path) -> Any:
    return checkpoint.load(path)["state"]["weights"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "critical"
    assert train("critical_first", out, "--min-episodes 48") == 0
    return out


def test_a_run_leaves_everything_behind(finished: Path) -> None:
    assert WorkflowExperiment.load(finished / "config.yaml").workflow.orders == (6,)
    summary = json.loads((finished / "summary.json").read_text())
    assert summary["status"] == "finished"
    assert summary["stopped"] in ("episodes", "compliant", "plateau")
    assert summary["inherited"] == "fresh weights"
    assert summary["episodes"] == 48
    assert summary["total"] == pytest.approx(summary["env_reward"] + summary["alignment_reward"])
    assert [score["order"] for score in summary["scores"]] == [6]
    rows = [json.loads(line) for line in (finished / "metrics.jsonl").read_text().splitlines()]
    assert [row["workflow/episodes"] for row in rows] == [12, 24, 36, 48]
    # The learner's own mean return is over the same episodes, and is the sum of both rewards.
    assert rows[0]["workflow/total"] == pytest.approx(rows[0]["rollout/ep_reward_mean"])
    assert (finished / "plots" / "learning_curve.png").stat().st_size > 10_000


def test_the_training_log_has_the_users_columns(finished: Path) -> None:
    with (finished / "export" / "training_log.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert (
        tuple(rows[0])
        == TRAINING_COLUMNS
        == (
            "Workflow_ID",
            "Workflow_Order",
            "Update",
            "Episodes",
            "Total_Episodes_Sampled",
            "Env_Reward",
            "Alignment_Bonus",
            "Total_Reward",
            "Compliance",
            "Avg_Fixes",
            "Collection_Time",
            "Update_Time",
        )
    )
    assert [row["Episodes"] for row in rows] == ["12", "24", "36", "48"]
    assert rows[0]["Workflow_Order"] == "defender → op_server → enterprise → op_host → user"
    for row in rows:
        total = float(row["Env_Reward"]) + float(row["Alignment_Bonus"])
        assert float(row["Total_Reward"]) == pytest.approx(total, abs=0.011)
    assert json.loads((finished / "export" / "experiment_config.json").read_text())["workflow"]["orders"] == [6]


def test_an_interrupted_run_resumes_bit_for_bit(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Recorder.log

    def interrupt(recorder: Recorder, step: int, metrics: dict[str, float]) -> None:
        log(recorder, step, metrics)
        if step == 240:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Recorder, "log", interrupt)
    out = tmp_path / "run"
    assert train("critical_first", out, "--min-episodes 48") == 130
    assert f"garrison workflow train --resume {out}" in capsys.readouterr().err
    assert json.loads((out / "summary.json").read_text())["episodes"] == 24
    monkeypatch.undo()
    assert cli.main(["workflow", "train", "--resume", str(out), "--quiet"]) == 0
    assert np.array_equal(weights(out), weights(finished))
    assert json.loads((out / "summary.json").read_text())["episodes"] == 48
    log_of = [(path / "export" / "training_log.csv").read_text().splitlines() for path in (out, finished)]
    untimed = [[line.rsplit(",", 2)[0] for line in lines] for lines in log_of]
    assert untimed[0] == untimed[1]


def test_training_stops_at_the_threshold_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = f"workflow train 0 --out {tmp_path / 'run'} --episodes 480 {TINY} --compliance-threshold 0.01"
    assert cli.main(arguments.split()) == 0
    assert "stopped: the compliance has reached the threshold" in capsys.readouterr().out
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["stopped"], summary["episodes"]) == ("compliant", 12)


def test_a_duration_ends_the_run_by_the_clock(tmp_path: Path) -> None:
    assert train("0", tmp_path / "run", "--duration 0.001s --patience 0 --compliance-threshold 1") == 0
    # Here the time is up before the first update, which is made all the same.
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["stopped"], summary["episodes"]) == ("time", 12)
    assert train("0", tmp_path / "longer", "--duration 0.3s --patience 0 --compliance-threshold 1") == 0
    summary = json.loads((tmp_path / "longer" / "summary.json").read_text())
    assert summary["stopped"] == "time"
    assert summary["episodes"] > 48


def test_several_orders_share_a_batch_and_are_shown_to_the_network(tmp_path: Path) -> None:
    experiment = TRAIN.of_orders([6, 117])
    envs = experiment.task.make_envs(experiment.env.envs)
    shown, _ = envs.reset(seed=0)
    assert np.array_equal(shown[0, -25:], one_hot(CANONICAL["critical_first"]))
    assert np.array_equal(shown[1, -25:], one_hot(CANONICAL["reverse"]))
    assert np.array_equal(shown[2], shown[0])
    assert train("critical_first reverse", tmp_path / "run") == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [score["order"] for score in summary["scores"]] == [6, 117]


def test_orders_are_spread_evenly() -> None:
    assert np.bincount(spread(list(range(120)), 250)).tolist() == [3] * 10 + [2] * 110


def test_weights_come_from_the_run_named(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    learn = session.train

    def spy(config: Any, envs: Any, num_envs: Any, run: Any, resume: Any, start: Any, connect: Any) -> Any:
        seen.append((config.learning_rate, start.numpy().copy()))
        return learn(config, envs, num_envs, run, resume, start, connect)

    monkeypatch.setattr(session, "train", spy)
    assert train("enterprise_focus", tmp_path / "run", f"--inherit {finished}") == 0
    assert np.array_equal(seen[0][1], weights(finished))
    assert seen[0][0] == TRAIN.workflow.inherited_learning_rate
    assert "critical_first, distance 0.2" in json.loads((tmp_path / "run" / "summary.json").read_text())["inherited"]


def policy(size: int = 77) -> dict[str, Any]:
    return {"config": {"hidden": [8]}, "observation_space": {"low": np.zeros(size)}, "action_space": {"n": 145}}


def trained(name: str, orders: tuple[int, ...], iteration: int = 0, size: int = 77) -> Trained:
    return Trained(name, orders, np.zeros(3, np.float32), policy(size), iteration)


def test_inheritance_picks_the_same_order_then_the_nearest() -> None:
    neighbour = int(np.flatnonzero(np.isclose(kendall_matrix()[40], 0.1))[0])
    far, near, same = trained("far", (119,)), trained("near", (neighbour,), 1), trained("same", (40,), 2)
    everything = trained("all", tuple(range(120)))
    assert nearest([40], [far, near], policy()) is near
    assert nearest([40], [same, far, near], policy()) is same
    assert nearest([40], [near, everything], policy()) is everything  # it has learned this very order
    assert nearest([40], [everything, same], policy()) is same
    assert nearest([40], [trained("older", (40,), 1), same], policy()) is same
    assert nearest([40], [trained("other shape", (40,), size=52), far], policy()) is far
    assert nearest([40], [], policy()) is None
    assert "distance 0.1" in near.to_text([40])


def test_runs_of_other_kinds_are_no_source_of_weights(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "checkpoint.garrison", {"experiment": {"env": {}}, "policy": {}, "state": {}})
    assert trained_in(tmp_path) == []


class Books:
    def __init__(self, fixes: list[int], rates: list[float]) -> None:
        self.last_fixes, self.last_rate = np.array(fixes), np.array(rates)
        self.last_env_return = np.array([-10.0, -20.0, -99.0])
        self.last_alignment_return = 30 * self.last_rate


class FakeBatch:
    def __init__(self, fixes: list[int], rates: list[float]) -> None:
        self.workflow = Books(fixes, rates)


def test_metrics_are_means_over_the_environments_whose_episodes_ended() -> None:
    # The second episode ended without a fix; the third has not ended.
    numbers = workflow_metrics(FakeBatch([4, 0, 0], [0.75, 0.5, 0.0]))
    assert numbers["workflow/env_reward"] == -15.0
    assert numbers["workflow/compliance"] == 0.625
    assert numbers["workflow/fixes"] == 2.0
    assert numbers["workflow/total"] == pytest.approx(-15.0 + 30 * 0.625)
    assert workflow_metrics(FakeBatch([0, 0, 0], [0.0, 0.0, 0.0])) == {}


def test_a_tracker_continues_where_another_stopped() -> None:
    envs = FakeBatch([1, 1, 1], [0.5, 0.5, 0.5])
    rules = StopRules(0.9, 3, 0, None)
    first = ComplianceTracker(envs, Stopper(rules))
    for _ in range(2):
        first.log(100, {"rollout/episodes": 3})
    second = ComplianceTracker(envs, Stopper(rules), progress=first.progress())
    second.log(200, {"rollout/episodes": 3})
    assert (second.episodes, second.updates, second.stop) == (9, 3, False)
    second.log(300, {"rollout/episodes": 3})
    assert second.stop
    assert second.stopper.reason == "plateau"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("critcal_first", "did you mean 'critical_first'"),
        ("120", "numbered 0 to 119"),
        ("", "say which orders to train"),
        ("0 --compliance-threshold 1.5", "compliance_threshold is a share"),
        ("0 --compliance-threshold 0", "compliance_threshold is a share"),
        ("0 --min-episodes -1", "min_episodes must be 0 or more"),
        ("0 --definition true", "unknown definition"),
        ("0 --foothold always", "unknown foothold"),
        ("0 --alignment-lambda -1", "alignment_lambda must be 0 or"),
        ("0 --steps 1000", "say --episodes N instead of --steps"),
        ("0 --env CartPole-v1", "native CAGE-2 only"),
        ("all --envs 100", "Say --envs 120"),
        ("0 --inherit nowhere", "it does not exist"),
        ("0 --resume nowhere", "leave out 0"),
        ("--resume nowhere", "does not exist"),
    ],
)
def test_wrong_input_is_told_and_leaves_nothing_behind(
    flags: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = cli.main(["workflow", "train", *flags.split()])
    except SystemExit as end:  # tyro tells what the settings refuse in a box of its own
        code = end.code  # type: ignore[assignment]
    err = " ".join(capsys.readouterr().err.split())
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("config.yaml"))


def test_settings_survive_their_file() -> None:
    experiment = TRAIN.of_orders([3, 5])
    assert WorkflowExperiment.from_yaml(experiment.to_yaml(), WorkflowExperiment()) == experiment
    assert "steps" not in experiment.to_dict()["ppo"]
    assert experiment.settings(inherits=False).steps == TRAIN.workflow.episodes * TRAIN.env.length


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": "annealing"}, "unknown method"),
        ({"beta": -1.0}, "beta must be 0 or more"),
        ({"initial": 0}, "initial must be at least 1"),
        ({"method": "random", "revisit": True}, "revisit is for the method gp"),
        ({"base_episodes": 100_000}, "must leave some for the orders"),
        ({"budget_episodes": 10, "base_episodes": 20}, "must leave some for the orders"),
    ],
)
def test_wrong_search_settings_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SearchConfig(**values)


def test_orders_out_of_range_are_refused() -> None:
    with pytest.raises(UserError, match="numbered 0 to 119"):
        WorkflowConfig(orders=(120,))


@pytest.mark.parametrize("asked", [{"reward": "regret"}, {"belief": True}])
def test_what_workflows_have_no_use_for_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="leave out --reward and --belief"):
        dataclasses.replace(TRAIN, env=dataclasses.replace(TRAIN.env, **asked))


def test_a_run_is_named_after_its_orders() -> None:
    assert title_of((index_of(CANONICAL["balanced"]),)) == "balanced"
    assert title_of((7,)) == "order-7"
    assert title_of((1, 2)) == "2-orders"
    assert title_of(tuple(range(120))) == "all"
    assert label(7) in TRAIN.of_orders([7]).describe()
