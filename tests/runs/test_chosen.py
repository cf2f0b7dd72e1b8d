"""Settings that follow from an environment: by what it shows and takes, printed, kept, and never against the user."""

from pathlib import Path

import pytest

from garrison.cli import main
from garrison.commands.train import parse
from garrison.errors import GarrisonError, UserError
from garrison.learn.config import PPOConfig
from garrison.runs import Experiment, default_preset, train
from garrison.runs.chosen import kind_of, reason
from garrison.runs.experiment_file import load_config, load_experiment
from tests.helpers.installed import needs_atari, needs_procgen
from tests.helpers.small_spaces import camera_and_sensors, pictures

ENVS = "tests.helpers.small_spaces"
TINY = {"steps": 32, "envs": 2, "rollout": 8, "epochs": 1, "minibatches": 2}


def ppo(env: str) -> PPOConfig:
    learner = default_preset(env).learner
    assert isinstance(learner, PPOConfig)
    return learner


def test_continuous_actions_get_normalised_observations_and_no_bonus_for_entropy() -> None:
    pendulum, cartpole = ppo("Pendulum-v1"), ppo("CartPole-v1")
    assert pendulum.policy.normalise_observations
    assert pendulum.entropy_coef == 0.0
    assert not cartpole.policy.normalise_observations  # so that it is compiled
    assert cartpole.entropy_coef > 0.0
    assert pendulum.normalise_returns
    assert cartpole.normalise_returns


def test_images_get_convolutions_shared_by_actor_and_critic() -> None:
    for env in ("pictures", "camera_and_sensors"):
        policy = ppo(f"{ENVS}:{env}").policy
        assert (policy.trunk, policy.activation, policy.hidden) == ("encoder", "relu", (512,))
    assert ppo(f"{ENVS}:sensors").policy.hidden == (64, 64)


@pytest.mark.parametrize("algorithm", ["ppo", "impala", "a3c"])
@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1", f"{ENVS}:pictures"])
def test_every_learner_has_a_choice_for_every_kind(env: str, algorithm: str) -> None:
    found = default_preset(env, algorithm)
    assert (found.algorithm, found.preset, found.env.env) == (algorithm, "auto", env)
    assert found.name == f"{algorithm}-{env.replace(':', '-')}"


def test_what_the_user_says_wins_and_the_rest_stays() -> None:
    _, args = parse(["--env", "Pendulum-v1", "--envs", "3", "--gamma", "0.9"])
    assert args.experiment == default_preset("Pendulum-v1").changed(envs=3, gamma=0.9)


def test_arguments_of_the_environment_are_known_before_its_spaces_are_seen() -> None:
    name = f"{ENVS}:sized"
    _, args = parse(["--env", name, "--env-args", "width=7", "--steps", "100"])
    assert args.experiment == default_preset(name, env_args={"width": 7}).changed(steps=100)
    assert args.experiment.env.env_args == {"width": 7}


def test_the_environment_is_made_once() -> None:
    kind_of.cache_clear()
    reason(default_preset("CartPole-v1"))
    default_preset("CartPole-v1", "impala")
    assert kind_of.cache_info().misses == 1


def test_a_function_of_a_module_is_as_good_as_its_name() -> None:
    assert default_preset(pictures) == default_preset(f"{ENVS}:pictures")
    with pytest.raises(UserError, match="define it at the top of a module"):
        default_preset(lambda: camera_and_sensors())


def test_the_choice_is_printed_with_its_reason_and_kept_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = " ".join(f"--{key} {value}" for key, value in TINY.items())
    command = f"train --env Pendulum-v1 {flags} --evaluate-episodes 0 --out {tmp_path / 'run'}"
    assert main(command.split()) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("Pendulum-v1 shows plain numbers, Box(3,), and takes continuous actions, Box(1,).")
    assert shown[1].startswith("16 environments, rollouts of 128, 10 passes in 8 minibatches, learning rate 0.001,")
    assert (
        "no preset: what is usual for Pendulum-v1, but env.envs: 2, run.evaluate_episodes: 0, ppo.steps: 32" in shown[3]
    )
    config = tmp_path / "run" / "config.yaml"
    expected = default_preset("Pendulum-v1").changed(**TINY, evaluate_episodes=0, out=str(tmp_path / "run"))
    assert load_config(config) == load_experiment(config) == expected


@pytest.mark.parametrize("env", ["Pendulum-v1", f"{ENVS}:camera_and_sensors", f"{ENVS}:sensors"])
def test_python_trains_an_environment_by_its_name(env: str) -> None:
    outcome = train(default_preset(env).changed(**TINY, hidden=(8,), threads=1), progress=False)
    assert outcome.status == "finished"


def test_an_environment_that_cannot_be_made_or_learned_from_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(UserError, match="no environment 'Pendulm-v1'"):
        default_preset("Pendulm-v1")
    with pytest.raises(GarrisonError, match="could not be made: TypeError"):
        default_preset("CartPole-v1", env_args={"gravity_of": 3})
    with pytest.raises(UserError, match="cannot learn from Text"):
        default_preset(f"{ENVS}:spoken")
    with pytest.raises(UserError, match="unknown preset 'ppo-blin'; did you mean 'ppo-bline'"):
        train("ppo-blin", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@needs_atari
def test_atari_games_are_learned_with_clipped_rewards_and_say_so() -> None:
    found = default_preset("ALE/Breakout-v5")
    assert found.env.env_args == {"episodic_life": True, "reward_clipping": True}
    assert "reward_clipping=true while training" in reason(found)
    own = default_preset("ALE/Breakout-v5", env_args={"reward_clipping": False})
    assert own.env.env_args == {"episodic_life": True, "reward_clipping": False}


@needs_procgen
def test_procgen_looks_far_ahead() -> None:
    found: Experiment = default_preset("procgen-maze-v0")
    assert found.learner.gamma == 0.999
    assert found.env.envs == 32


def test_a3c_takes_larger_steps_with_continuous_actions() -> None:
    assert default_preset("Pendulum-v1", "a3c").learner.learning_rate == 3e-3
    assert default_preset("CartPole-v1", "a3c").learner.learning_rate == 1e-3
