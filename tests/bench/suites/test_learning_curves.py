"""`garrison bench learning`: the same settings on both sides, the same bookkeeping, and runs that are kept."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from garrison import cli, system
from garrison.bench.publish import learning_pages, learning_rows
from garrison.bench.suites import learning_curves, learning_jobs, learning_runs
from garrison.bench.suites.learning_jobs import JOBS
from tests.helpers.learning_stand_in import Trainings


class Countdown(gymnasium.Env[Any, Any]):
    """Pays 1, 2, 3, ... and ends after three steps."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._time = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self._time += 1
        return np.zeros(2, np.float32), float(self._time), self._time == 3, False, {}


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Trainings:
    stand_in = Trainings()
    monkeypatch.setattr(learning_curves, "FreshProcess", stand_in)
    monkeypatch.setattr(system, "missing", lambda module: "")
    return stand_in


def bench(out: Path, *words: str) -> dict[str, Any]:
    assert cli.main(["bench", "learning", *words, "--out", str(out)]) == 0
    result: dict[str, Any] = json.loads((out / "learning.json").read_text())
    return result


def test_every_setting_is_the_same_on_both_sides() -> None:
    for job in JOBS.values():
        ours, theirs = learning_jobs.our_settings(job, seed=3), learning_jobs.sb3_settings(job, seed=3)
        batch = job.n_envs * job.n_steps
        assert batch % job.batch_size == 0  # else SB3 learns from a shorter minibatch
        assert batch / ours.minibatches == theirs["batch_size"]
        assert (ours.rollout, ours.epochs, ours.clip) == (theirs["n_steps"], theirs["n_epochs"], theirs["clip_range"])
        assert (ours.gamma, ours.gae_lambda) == (theirs["gamma"], theirs["gae_lambda"])
        assert (ours.entropy_coef, ours.max_grad_norm) == (theirs["ent_coef"], theirs["max_grad_norm"])
        assert 0.5 * ours.value_coef == theirs["vf_coef"]
        rate = theirs["learning_rate"]
        for done in (0.0, 0.25, 1.0):
            assert ours.learning_rate_at(done) == pytest.approx(rate(1 - done) if callable(rate) else rate)
        assert ours.policy.normalise_observations == ours.normalise_returns == job.is_normalised
        assert ours.seed == theirs["seed"] == 3


def test_stable_baselines3_has_the_network_that_we_have() -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from garrison.learn import Policy

    job = JOBS["CartPole-v1"]
    envs = DummyVecEnv([Countdown])
    theirs = PPO("MlpPolicy", envs, **learning_jobs.sb3_settings(job, 0) | {"batch_size": 32})
    ours = Policy(Countdown.observation_space, Countdown.action_space, learning_jobs.our_settings(job, 0).policy)
    assert sorted(p.numel() for p in theirs.policy.parameters()) == sorted(p.numel() for p in ours.parameters())
    assert theirs.policy.optimizer.defaults["eps"] == learning_jobs.our_settings(job, 0).adam_epsilon
    assert theirs.normalize_advantage
    assert theirs.clip_range_vf is None


def test_the_book_counts_the_steps_of_all_environments() -> None:
    ends: list[tuple[int, float]] = []
    env = learning_runs.EpisodeBook(Countdown(), ends, num_envs=4)
    for _ in range(2):
        env.reset()
        for _ in range(3):
            env.step(0)
    assert ends == [(12, 6.0), (24, 6.0)]


def test_a_point_is_the_mean_of_what_ended_in_its_window() -> None:
    ends = [(1, 1.0), (10, 3.0), (11, 5.0), (200, 7.0), (201, 1e9)]  # of the last, a rollout went on beyond the end
    points = learning_runs.curve(ends, 200)
    assert len(points) == learning_runs.WINDOWS
    assert points[0] == {"step": 10, "return": 2.0, "episodes": 2}
    assert points[1] == {"step": 20, "return": 5.0, "episodes": 1}
    assert points[2] == {"step": 30, "return": None, "episodes": 0}
    assert points[-1] == {"step": 200, "return": 7.0, "episodes": 1}
    assert all(point["return"] is None for point in learning_runs.curve([], 200))


@pytest.mark.slow
@pytest.mark.parametrize("who", list(learning_runs.SIDES))
def test_both_sides_train_on_the_books(who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if who == learning_runs.SB3:
        pytest.importorskip("stable_baselines3")
    monkeypatch.setattr(gymnasium, "make", lambda name: Countdown())
    job = learning_jobs.LearningJob("Countdown", 60, 2, 15, 10, 2, 1e-3, 0.9, 0.9, is_normalised=True)
    reported: list[dict[str, Any]] = []
    learning_runs.train(reported.append, who, asdict(job), seed=1)
    assert reported[0]["episodes"] == 20
    assert {point["return"] for point in reported[0]["curve"]} <= {6.0, None}  # as given, not as normalised


def test_all_runs_are_trained_kept_and_judged(
    tmp_path: Path, trainings: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    result = bench(tmp_path, "--seeds", "3")
    assert len(trainings.asked) == len(result["runs"]) == 3 * 2 * 3
    assert [run["labels"]["env"] for run in result["runs"][::6]] == list(JOBS)
    assert "better" in capsys.readouterr().out
    assert [row[-1] for row in learning_rows.verdicts(result)] == ["better"] * 3
    page = (tmp_path / "index.html").read_text()
    assert "Learning curves" in page
    assert page.count("<svg") == 3
    table = learning_pages.learning_table(tmp_path)
    assert "| Hopper-v5 | 200,000 | 136.5 ± 2.5 | 36.5 ± 2.5 |" in table
    assert "confidence of 3 seeds" in table


def test_what_is_there_is_not_trained_again(tmp_path: Path, trainings: Trainings) -> None:
    bench(tmp_path, "--seeds", "2", "--env", "Pendulum-v1")
    assert len(trainings.asked) == 4
    result = bench(tmp_path, "--seeds", "2", "--env", "CartPole-v1")
    assert len(trainings.asked) == 8
    assert len(result["runs"]) == 8  # the other environment's are kept
    bench(tmp_path, "--seeds", "2", "--env", "CartPole-v1")
    assert len(trainings.asked) == 8
    result = bench(tmp_path, "--seeds", "3", "--env", "CartPole-v1")
    assert trainings.asked[8:] == [("CartPole-v1", who, 2) for who in learning_runs.SIDES]


def test_other_sources_or_versions_are_trained_again(
    tmp_path: Path, trainings: Trainings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench(tmp_path, "--seeds", "1", "--env", "Pendulum-v1")
    monkeypatch.setattr(learning_curves, "_learn_hash", lambda: "changed")
    bench(tmp_path, "--seeds", "1", "--env", "Pendulum-v1")
    assert trainings.asked[2:] == [("Pendulum-v1", "garrison", 0)]
    monkeypatch.setattr(system, "versions", lambda: {"torch": "9"})
    result = bench(tmp_path, "--seeds", "1", "--env", "Pendulum-v1")
    assert len(trainings.asked) == 5
    assert len(result["runs"]) == 2


def test_a_run_that_fails_costs_only_itself(
    tmp_path: Path, trainings: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    trainings.fails.add("Pendulum-v1")
    assert cli.main(["bench", "learning", "--seeds", "1", "--out", str(tmp_path)]) == 1
    assert "Pendulum-v1, garrison, seed 0: failed: ValueError: it broke" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "learning.json").read_text())["runs"]) == 4


def test_what_is_missing_is_one_sentence(
    tmp_path: Path, trainings: Trainings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "missing", lambda module: "MuJoCo is gone" if module == "mujoco" else "")
    result = bench(tmp_path, "--quick")
    assert {run["labels"]["env"] for run in result["runs"]} == {"CartPole-v1", "Pendulum-v1"}
    assert "Hopper-v5 is left out: MuJoCo is gone" in capsys.readouterr().out
    assert cli.main(["bench", "learning", "--env", "Hopper-v5"]) == 2
    monkeypatch.setattr(system, "missing", lambda module: "SB3 is gone" if module == "stable_baselines3" else "")
    assert cli.main(["bench", "learning"]) == 2
    assert "SB3 is gone" in capsys.readouterr().err


def test_a_difference_that_its_confidence_covers_is_no_verdict() -> None:
    assert learning_rows.verdict([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) == learning_rows.SAME
    assert learning_rows.verdict([1.0, 1.1, 0.9], [2.0, 2.1, 1.9]) == learning_rows.WORSE
    assert learning_rows.verdict([2.0, 2.1, 1.9], [1.0, 1.1, 0.9]) == learning_rows.BETTER
    assert learning_rows.verdict([2.0], [1.0, 1.1]) == learning_rows.UNKNOWN
