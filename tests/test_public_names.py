"""The public names can be found, load on first use, and are typed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.type_check import type_errors

DOCUMENTED = """
import numpy as np
import garrison
from garrison.cage2 import Env, VectorEnv

watched = garrison.watch("record", seed=7)
lost: float = watched.episodes[0].total
swept = garrison.sweep("ppo-cartpole", seeds=2, grid={"ppo.epochs": [2, 4]})
tried: int = len(swept.results.settings)
envs = VectorEnv(8, red="meander", copy=False)
observations, infos = envs.reset(seed=0)
held: int = int(envs.truth.access[:, 3].sum())
trial = envs.clone([0], repeat=145)
rewards = trial.step(np.arange(145))[1]
state = envs.get_state()
envs.set_state(state)
envs.set_state(envs.get_state([1]), [2])
masks = envs.action_masks()
one = Env(length=30)
running: int = int(one.truth.ot_running[0])
config = garrison.learn.PPOConfig
words = garrison.text.TextEnv(view="json", rename="roles")
told: str = words.reset(seed=1)[0]
number: int = garrison.text.read_action("restore user1")
"""


def test_submodules_and_names_are_there_without_importing_them_by_hand() -> None:
    code = (
        "import garrison; print(garrison.learn.__name__, garrison.vector.__name__);"
        "print(*sorted(dir(garrison.cage2))); print(garrison.cage2.VectorEnv.__name__)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert out[0] == "garrison.learn garrison.vector"
    assert {"ACTIONS", "Env", "HOSTS", "Truth", "VectorEnv", "load_scenario", "warm_up"} <= set(out[1].split())
    assert out[2] == "VectorEnv"


@pytest.mark.slow
def test_documented_lines_pass_a_strict_type_check(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    assert type_errors(DOCUMENTED, tmp_path) == []
