import importlib.util
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.errors import UserError
from garrison.system import install
from tests.helpers.vector_samples import Sampler

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
LENGTHS = (3, 4, 5)


def make(backend: str = "serial", mode: str = "same_step", **kwargs: Any) -> Any:
    makers = [partial(Sampler, n, **kwargs) for n in LENGTHS]
    return garrison.vector.sb3(garrison.vector.make(makers, backend=backend, workers=2, autoreset_mode=mode))


@pytest.mark.parametrize("mode", ["same_step", "disabled"])
@pytest.mark.parametrize("backend", ["serial", "shared", "async", "pipes", "threads"])
def test_gives_what_dummy_vec_env_with_monitor_gives(backend: str, mode: str) -> None:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    def monitored(length: int) -> Any:
        return Monitor(Sampler(length))

    ours = make(backend, mode)
    theirs = DummyVecEnv([partial(monitored, n) for n in LENGTHS])
    ours.seed(7)
    theirs.seed(7)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    assert ours.reset_infos == theirs.reset_infos
    for t in range(12):
        actions = np.full(3, 2 + t % 5)
        mine, its = ours.step(actions), theirs.step(actions)
        np.testing.assert_array_equal(mine[0], its[0])
        np.testing.assert_array_equal(mine[1], its[1])
        assert mine[1].dtype == its[1].dtype
        np.testing.assert_array_equal(mine[2], its[2])
        for i in range(3):
            a, b = dict(mine[3][i]), dict(its[3][i])
            b.setdefault("TimeLimit.truncated", False)
            a.setdefault("TimeLimit.truncated", False)
            for info in (a, b):
                info.pop("mixed", None)  # Gymnasium's batched infos give it the first environment's type
                if "episode" in info:
                    info["episode"] = {k: info["episode"][k] for k in ("r", "l")}
            assert a.keys() == b.keys()
            for key in a:
                np.testing.assert_array_equal(a[key], b[key])
    assert ours.reset_infos == theirs.reset_infos
    ours.close()


def test_attributes_methods_and_indices() -> None:
    ours = make("shared")
    ours.reset()
    assert ours.get_attr("length") == [3, 4, 5]
    assert ours.get_attr("length", indices=1) == [4]
    assert ours.env_method("double_length", plus=1, indices=[0, 2]) == [7, 11]
    ours.set_attr("length", 9, indices=[1])
    assert ours.get_attr("length") == [3, 9, 5]
    assert not ours.has_attr("no_such_thing")
    ours.close()


def test_observations_outlive_the_next_step() -> None:
    ours = make("serial")
    kept = ours.reset()
    before = kept.copy()
    ours.step(np.full(3, 2))
    np.testing.assert_array_equal(kept, before)


def test_next_step_autoreset_is_refused_with_the_fix() -> None:
    with pytest.raises(UserError, match='autoreset_mode="same_step"'):
        make(mode="next_step")


def test_missing_sb3_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = garrison.vector.make(Sampler, 2, "serial", autoreset_mode="same_step")
    monkeypatch.delitem(sys.modules, "garrison.vector.sb3_env", raising=False)
    for name in [n for n in sys.modules if n.startswith("stable_baselines3")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(UserError) as caught:
        garrison.vector.sb3(envs)
    assert str(caught.value) == f"Stable-Baselines3 is not installed: {install('sb3')}"


def test_ppo_learns_a_little_on_a_python_environment() -> None:
    from stable_baselines3 import PPO

    envs = garrison.vector.make("CartPole-v1", 4, "shared", workers=2, autoreset_mode="same_step")
    model = PPO("MlpPolicy", garrison.vector.sb3(envs), n_steps=32, batch_size=64, n_epochs=1, device="cpu", seed=0)
    model.learn(256)
    assert model.num_timesteps == 256
    assert len(model.ep_info_buffer or []) > 0  # SB3 saw episodes end
    envs.close()


def test_the_example_trains_on_native_cage2() -> None:
    path = Path(__file__).parents[2] / "examples" / "sb3_ppo.py"
    spec = importlib.util.spec_from_file_location("sb3_ppo", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    score = example.main(steps=4096, num_envs=64)  # one update, and 64 episodes at once
    assert -2000 < score < 0
