"""Every learner has one signature, and the table says what is special about it."""

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest
import torch

from garrison import cli, system
from garrison.errors import UserError
from garrison.learn import LEARNERS, PolicyConfig, PPOConfig, train
from garrison.learn.config import A3CConfig, ImpalaConfig, JaxPPOConfig, LearnerConfig
from garrison.learn.registry import Learner, algorithm_of, learner_section
from tests.helpers.bits_env import BitsEnv
from tests.helpers.guides import block, module_of
from tests.helpers.learning import Log

SMALL = {"steps": 200, "rollout": 5, "compute": "autograd", "policy": PolicyConfig(hidden=(8,))}
CONFIGS: dict[str, LearnerConfig] = {
    "ppo": PPOConfig(threads=1, **SMALL),  # type: ignore[arg-type]
    "impala": ImpalaConfig(actors=0, threads=1, **SMALL),  # type: ignore[arg-type]
    "a3c": A3CConfig(actors=1, **SMALL),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_has_the_common_signature(name: str) -> None:
    for module in LEARNERS[name].needs:
        pytest.importorskip(module)
    parameters = inspect.signature(import_module(LEARNERS[name].module).train).parameters
    common = ["config", "envs", "num_envs", "run", "resume", "weights"]
    assert list(parameters) == common + (["connect"] if LEARNERS[name].can_cluster else [])
    assert all(parameters[each].default is None for each in common[2:])


@pytest.mark.parametrize("name", CONFIGS)
def test_train_picks_the_learner_by_its_settings(name: str) -> None:
    log = Log()
    result = train(CONFIGS[name], BitsEnv, 4, log)
    assert result.state["algorithm"] == name == algorithm_of(CONFIGS[name])
    assert result.steps >= 200
    assert log.metrics


@pytest.mark.parametrize("name", CONFIGS)
def test_training_starts_from_given_weights(name: str) -> None:
    first = train(CONFIGS[name], BitsEnv, 4).policy.flat
    stopped = Log(updates=0)
    again = train(CONFIGS[name], BitsEnv, 4, stopped, weights=first)
    assert torch.equal(again.policy.flat, first)
    with pytest.raises(UserError, match="cannot start"):
        train(CONFIGS[name], BitsEnv, 4, weights=torch.zeros(3))


@pytest.mark.parametrize("name", CONFIGS)
def test_only_learners_without_actors_take_environments_that_are_ready(name: str) -> None:
    if LEARNERS[name].has_actors:
        with pytest.raises(UserError, match="give it a function that makes them"):
            train(CONFIGS[name], BitsEnv(4))
    else:
        assert train(CONFIGS[name], BitsEnv(4)).steps == 200
    with pytest.raises(UserError, match="num_envs is missing"):
        train(CONFIGS[name], BitsEnv)


def test_environments_that_ppo_has_made_are_closed() -> None:
    made: list[BitsEnv] = []

    def make(num_envs: int) -> BitsEnv:
        made.append(BitsEnv(num_envs))
        return made[0]

    train(CONFIGS["ppo"], make, 4)
    assert made[0].closed


def test_a_cluster_is_only_for_those_who_can_use_it() -> None:
    for name in ("ppo", "a3c"):
        with pytest.raises(UserError, match=f"{name} cannot have its actors on a cluster"):
            train(CONFIGS[name], BitsEnv, 4, connect=lambda spec: None)  # type: ignore[arg-type,return-value]


def test_a_learner_that_needs_more_than_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="JAX is not installed: pip install"):
        train(JaxPPOConfig(), BitsEnv, 4)


def test_settings_of_nobody_are_refused() -> None:
    with pytest.raises(
        UserError, match="no learner has settings of type LearnerConfig; there are: ppo, ppo-jax, impala, a3c"
    ):
        train(LearnerConfig(), BitsEnv, 4)


def test_a_checkpoint_has_one_learners_section() -> None:
    assert learner_section({"env": {}, "run": {}, "a3c": {"gamma": 0.5}}) == {"gamma": 0.5}


def test_the_guide_to_a_new_learner_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of("learner.md", "garrison.learn.climb", tmp_path, monkeypatch)
    names = {"Learner": Learner, **vars(module)}
    for name, learner in eval(f"{{{block('learner.md', 'text')}}}", names).items():
        monkeypatch.setitem(LEARNERS, name, learner)
    test_a_learner_has_the_common_signature("climb")
    (tmp_path / "climb.yaml").write_text(block("learner.md", "yaml"))
    out = tmp_path / "run"
    flags = f"--quiet --steps 2048 --no-tensorboard --compute autograd --out {out}"
    assert cli.main(["train", str(tmp_path / "climb.yaml"), *flags.split()]) == 0
    assert cli.main(["train", "--resume", str(out), "--steps", "4096", "--quiet"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["training_mode"], summary["status"], summary["total_timesteps"]) == ("climb", "finished", 4096)
    best = [json.loads(row)["train/best"] for row in (out / "metrics.jsonl").read_text().splitlines()]
    assert len(best) == 8
    assert best == sorted(best)
