"""A task for every environment: made, described and scored without anybody asking what it is."""

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli, vector
from garrison.cage2 import VectorEnv
from garrison.cage2.names import Red
from garrison.challenge import leaderboard
from garrison.errors import UserError
from garrison.learn.config import PPOConfig
from garrison.tasks.cage2 import Cage2Task, env_arguments
from garrison.tasks.gymnasium_envs import GymnasiumTask
from garrison.tasks.registry import TASKS, EnvConfig, task_of
from garrison.vector import auto
from tests.helpers.guides import block, module_of
from tests.helpers.known_costs import uneven_load

CAGE2 = EnvConfig(red="bline", rules="leaderboard", length=30, observation="memory", actions="compact")
CARTPOLE = EnvConfig(env="CartPole-v1", backend="serial")


def test_the_environment_decides_the_task() -> None:
    assert isinstance(task_of(CAGE2), Cage2Task)
    assert isinstance(task_of(CARTPOLE), GymnasiumTask)


def test_every_setting_of_cage2_reaches_the_simulator() -> None:
    """A new setting that is forgotten on its way fails here."""
    common = {
        "env",
        "envs",
        "backend",
        "workers",
        "env_args",
        "blue",
        "reward",
        "belief",
    }  # the last two choose the batch
    names = {field.name for field in dataclasses.fields(EnvConfig)} - common
    assert set(env_arguments(CAGE2)) == names - {"challenge_encoder"} | {"encoder"}
    mine = task_of(CAGE2).make_envs(3)
    other = VectorEnv(
        3, "bline", rules="leaderboard", length=30, observation="memory", actions="compact", autoreset_mode="SameStep"
    )
    assert np.array_equal(mine.reset(seed=1)[0], other.reset(seed=1)[0])
    for action in (0, 3, 60):
        for ours, theirs in zip(mine.step([action] * 3)[:4], other.step([action] * 3)[:4], strict=True):
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("config", [CAGE2, CARTPOLE])
def test_actors_can_be_sent_the_function_that_makes_environments(config: EnvConfig) -> None:
    make = pickle.loads(pickle.dumps(task_of(config).make_envs))
    envs = make(2)
    assert envs.num_envs == 2
    envs.close()


def test_tasks_tell_what_the_view_and_the_summary_need() -> None:
    assert task_of(CARTPOLE).describe() == "CartPole-v1"
    assert task_of(CARTPOLE).facts() == {"backend": "serial"}
    assert task_of(CARTPOLE).known_scores() == {}
    assert task_of(CAGE2).describe() == "against bline, rules leaderboard"
    assert task_of(CAGE2).facts()["red_odds"] == {"bline": 1.0}
    assert task_of(CAGE2).known_scores()["the winner"] == leaderboard.leaderboard()[0].cell("bline", 30)
    assert task_of(dataclasses.replace(CAGE2, length=31)).known_scores() == {}


def test_masks_need_a_batch_that_has_them() -> None:
    masked = PPOConfig(action_masks=True)
    task_of(CAGE2).check(masked)
    task_of(dataclasses.replace(CAGE2, backend="jax")).check(masked)
    task_of(dataclasses.replace(CAGE2, backend="serial")).check(PPOConfig())
    with pytest.raises(UserError, match="--no-action-masks"):
        task_of(dataclasses.replace(CAGE2, backend="serial")).check(masked)


def test_an_environment_may_be_named_by_what_makes_it() -> None:
    config = EnvConfig(env="tests.helpers.faulty_envs:Faulty", backend="serial", env_args={"length": 7})
    envs = task_of(config).make_envs(2)
    envs.reset(seed=0)
    ends = [envs.step([0, 0])[3].all() for _ in range(7)]
    assert ends == [False] * 6 + [True]
    envs.close()


def test_the_guide_to_a_new_task_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = module_of("task.md", "garrison.tasks.cartpole", tmp_path, monkeypatch)
    for name, task in eval(f"{{{block('task.md', 'text')}}}", vars(module)).items():
        monkeypatch.setitem(TASKS, name, task)
    flags = "--steps 512 --no-tensorboard --compute autograd --evaluate-every 256 --evaluate-episodes 4"
    assert cli.main(["train", "ppo-cartpole", *flags.split(), "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr()
    assert "known scores: solved 475.0, random 22.0" in said.out
    assert "step 256: upright in 0%" in said.err
    assert said.out.splitlines()[-1] == "the pole stays up in 0% of 4 episodes"
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["evaluation"] == {"upright": 0.0}
    assert (tmp_path / "run" / "best.garrison").exists()


OWN = EnvConfig(red="own_attacker:Opportunist", envs=8)


def test_a_class_of_ones_own_attacks_in_training(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(Path(__file__).parents[2] / "examples")
    task = task_of(OWN)
    assert task.describe() == "against own_attacker:Opportunist, rules head"
    assert task.known_scores() == {}
    envs = task.make_envs(2)
    envs.reset(seed=0)
    envs.step([0, 0])
    assert (envs.truth.red == Red.EXTERNAL).all()
    command = f"train ppo-mixed --red {OWN.red} --envs 8 --steps 256 --rollout 16 --quiet --out {tmp_path / 'run'}"
    assert cli.main(command.split()) == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["task"]["red"] == OWN.red


@pytest.mark.parametrize(
    ("red", "message"),
    [
        ("external", "--red my_module:MyRed"),
        ("bline:0.5,own_attacker:Opportunist", "every name in red needs odds"),
        ("bline,runs/no-such-run", "unknown red 'runs/no-such-run'"),
    ],
)
def test_attackers_that_cannot_be_trained_against_are_a_sentence(red: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        EnvConfig(red=red)


def test_a_class_of_ones_own_may_be_part_of_a_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2] / "examples")
    task = task_of(dataclasses.replace(OWN, red="own_attacker:Opportunist:0.5,sleep:0.5"))
    assert task.known_scores() == {}
    envs = task.make_envs(64)
    envs.reset(seed=0)
    envs.step(np.zeros(64, int))
    assert 0.2 < (envs.truth.red == Red.EXTERNAL).mean() < 0.8


def test_scores_made_under_other_rules_are_not_known_scores() -> None:
    assert task_of(CAGE2).known_scores()
    assert task_of(dataclasses.replace(CAGE2, rules="head")).known_scores() == {}


def test_auto_takes_environments_ready_first_for_learners_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "watch", lambda *_: uneven_load(1e-3, 1.0))
    learners = task_of(EnvConfig(env="CartPole-v1", workers=2)).make_envs(16)
    others: Any = vector.make("CartPole-v1", 16, workers=2)
    assert (learners.backend, others.backend) == ("async", "shared")
    learners.close()
    others.close()
