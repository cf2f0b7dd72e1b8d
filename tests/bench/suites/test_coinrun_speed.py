"""The users' own job on CoinRun: rows that differ in one thing each, on games that are the same for all."""

import multiprocessing
import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from garrison import cli, system, vector
from garrison.bench.method.fresh import Configuration, Sample, Work
from garrison.bench.method.labels import ROOFLINE
from garrison.bench.method.measurement import BenchResult, Measurement
from garrison.bench.method.rounds import Rounds
from garrison.bench.publish import coinrun_pages, coinrun_rows
from garrison.bench.suites import coinrun_job, coinrun_ours, coinrun_peers, coinrun_speed, user_figures, user_tables
from garrison.errors import UserError

JOB = {"num_envs": 4, "rollout": 2, "minibatches": 2, "epochs": 1}


class Pictures(gymnasium.Env[Any, Any]):
    """Shows noise, as CoinRun would be for somebody who does not look."""

    observation_space = gymnasium.spaces.Box(0, 255, coinrun_job.PICTURE, np.uint8)
    action_space = gymnasium.spaces.Discrete(coinrun_job.NUM_ACTIONS)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        return self.observation_space.sample(), 1.0, bool(self.np_random.random() < 0.3), False, {}


def pictures(num_envs: int, backend: str, workers: int | None = None) -> Any:
    return vector.make(Pictures, num_envs, "serial", autoreset_mode="same_step", copy=False)


@pytest.fixture
def any_games(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (coinrun_ours, coinrun_peers):
        monkeypatch.setattr(module, "coinrun", pictures)
    monkeypatch.setattr(coinrun_ours, "coinrun_native", lambda: partial(pictures, backend="native"))
    monkeypatch.setattr(coinrun_peers, "one_coinrun", Pictures)


def updates(work: AbstractContextManager[Work]) -> list[int]:
    with work as opened:
        return [opened.advance(), opened.advance()]


def test_every_trainer_does_the_whole_job(any_games: None) -> None:
    every = [
        coinrun_ours.ppo(JOB, "native"),
        coinrun_ours.impala(JOB, actors=0),
        coinrun_ours.roofline(JOB),
        coinrun_peers.cleanrl_style(JOB),
    ]
    assert [updates(work) for work in every] == [[8, 8]] * 4


def test_stable_baselines3_has_our_network(any_games: None) -> None:
    pytest.importorskip("stable_baselines3")
    from garrison.learn import Policy

    assert updates(coinrun_peers.sb3(JOB, "Dummy")) == [8, 8]
    ours = Policy(Pictures.observation_space, Pictures.action_space, coinrun_job.our_policy())
    convolutions = coinrun_peers._convolutions(3)
    shared = sum(p.numel() for p in convolutions.parameters())
    heads = 2 * (1024 * 512 + 512) + 512 * 15 + 15 + 512 + 1
    assert sum(p.numel() for p in ours.parameters()) == shared + heads


@pytest.mark.parametrize("workers", [0, 4])
def test_the_users_code_is_run_from_a_clone_one_update_at_a_time(
    any_games: None, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As their trainers look from outside: what they import, are made with, and call once per update.
    trainer = """
import gym
from shimmy.openai_gym_compatibility import GymV21CompatibilityV0
from tqdm import tqdm

class Trainer:
    def __init__(self, env_name, n_steps, total_timesteps, batch_size, n_epochs, save_interval, seed, **envs):
        self.env = GymV21CompatibilityV0(env=gym.make(env_name))
        self.frames = n_steps * (envs.get("num_envs") or envs["num_workers"] * envs["num_envs_per_worker"])

    def train(self):
        for update in tqdm(range(10**9), desc="Training"):
            self.env.reset()
            self.logger.log({}, (update + 1) * self.frames)

SequentialTrainer = ParallelTrainer = Trainer
"""
    (tmp_path / "src").mkdir()
    for name in ("trainer", "parallel_trainer"):
        (tmp_path / "src" / f"{name}.py").write_text(trainer)
    monkeypatch.syspath_prepend(tmp_path)  # and what is put there later goes with it
    monkeypatch.setattr(coinrun_job, "one_coinrun", Pictures)
    started: list[str] = []
    monkeypatch.setattr(multiprocessing, "set_start_method", lambda name, force: started.append(name))
    theirs = ("gym", "shimmy", "shimmy.openai_gym_compatibility", "tqdm", "src", "src.trainer", "src.parallel_trainer")
    before = {name: sys.modules.pop(name) for name in theirs if name in sys.modules}
    try:
        assert updates(coinrun_peers.users_code(JOB, workers)) == [8, 8]
    finally:
        for name in theirs:
            sys.modules.pop(name, None)
        sys.modules.update(before)
    assert started == ["spawn"]


def test_rows_differ_and_answer_every_figure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(coinrun_speed, "find_spec", lambda name: name)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parallel_trainer.py").touch()
    rows = coinrun_speed.configurations(quick=False, their_code=tmp_path)
    assert len({c.name for c in rows}) == len(rows) == 11
    assert all(c.arguments["job"] == coinrun_job.JOB for c in rows)
    assert str(tmp_path) not in str([c.arguments for c in rows])  # what is stored names no place on this machine
    labels = [c.labels for c in rows]
    for figure in user_figures.COINRUN_FIGURES:
        for side in (figure.same_way, figure.native):
            assert all(one in labels for one in (side if isinstance(side, tuple) else (side,)) if one)
    assert coinrun_rows.SB3 in labels
    with pytest.raises(UserError, match="not a clone"):
        coinrun_speed.configurations(quick=True, their_code=tmp_path / "src")


def test_the_command_measures_compares_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = {
        100: coinrun_speed.IN_SEQUENCE,
        150: coinrun_speed.IN_WORKERS,
        50: coinrun_rows.SB3,
        200: {"who": ROOFLINE},
    }

    def measure(rows: list[Configuration], rounds: Rounds, **method: Any) -> BenchResult:
        assert method["timeout"] > 120  # an update may take long
        samples = [Sample(rate, 1.0, 1.0, 0.0, 1.0, 1.0, 1, {}) for rate in rates]
        made = (Measurement(Configuration(rates[s.steps], ""), (s,) * 6) for s in samples)
        return BenchResult(tuple(made), system.facts(), {"repeats": 6, "command": "garrison bench users"})

    monkeypatch.setattr(user_tables, "measure", measure)
    monkeypatch.setattr(system, "missing", lambda module: "")
    words = ["--part", "coinrun", "--repeats", "1", "--seconds", "0.01"]
    assert cli.main(["bench", "users", *words, "--out", str(tmp_path)]) == 0
    assert "1,500 to 2,000" in capsys.readouterr().out
    page = (tmp_path / "index.html").read_text()
    assert "own job on CoinRun" in page
    table = coinrun_pages.coinrun_table(tmp_path)
    assert "4 workers x 8 70 to 80" in table
    assert "| garrison PPO shared, 4 workers | 150 ± 0.0% | 3 ± 0.0% | 75.0 ± 0.0% |" in table
    assert "| convolutions and products alone | 200 ± 0.0% |  |  |" in table


def test_without_procgen_the_rows_are_left_out_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "missing", lambda module: "Procgen is gone")
    monkeypatch.setattr(user_tables, "_run_cage2", lambda arguments: None)
    assert cli.main(["bench", "users"]) == 0
    assert "CoinRun is left out: Procgen is gone" in capsys.readouterr().out
    assert cli.main(["bench", "users", "--part", "coinrun"]) == 2
