"""A trained attacker plays in every batch as it did in its own."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison
from garrison.agents import LearnedRed, RedVectorEnv, load_agent
from garrison.agents.learned_red import find_red
from garrison.cage2 import VectorEnv
from garrison.cage2.names import RedKind
from garrison.errors import UserError
from tests.helpers.small_reds import train_red


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_red(tmp_path_factory.mktemp("runs") / "red")


def rewards(envs: VectorEnv, blue: Any, steps: int) -> np.ndarray:
    shown, _ = envs.reset(seed=6)
    blue.begin(envs.num_envs)
    found = []
    for _ in range(steps):
        shown, reward, *_ = envs.step(blue.act(shown))
        found.append(reward)
    return np.array(found)


def test_it_plays_as_its_network_does_on_reds_side(red: Path) -> None:
    envs = RedVectorEnv(6, blue="react-restore", length=40, rules="leaderboard", autoreset_mode="Disabled")
    agent: Any = load_agent(str(red))
    seen, _ = envs.reset(seed=6)
    agent.begin(6)
    expected = []
    for _ in range(40):
        seen, reward, *_ = envs.step(agent.act(seen, envs.action_masks()))
        expected.append(-reward)
    batch = VectorEnv(6, red=garrison.load_red(str(red)), length=40, rules="leaderboard", autoreset_mode="Disabled")
    assert (rewards(batch, load_agent("react-restore"), 40) == np.array(expected)).all()
    assert (batch.truth.red_kind != RedKind.INVALID).all()


@pytest.mark.parametrize("sample", [False, True])
def test_an_episode_depends_on_its_seed_and_not_on_the_batch(red: Path, sample: bool) -> None:
    mixture = {garrison.load_red(str(red), sample=sample): 0.5, "bline": 0.5}
    together = rewards(VectorEnv(6, red=mixture, length=30, autoreset_mode="Disabled"), load_agent("sleep"), 30)
    for i in range(6):
        envs = VectorEnv(1, red=mixture, length=30, autoreset_mode="Disabled")
        envs.reset(seed=6 + i)
        alone = np.array([envs.step([0])[1][0] for _ in range(30)])
        assert (alone == together[:, i]).all()


def test_sampling_draws_by_the_policys_odds(red: Path) -> None:
    drawn: LearnedRed = garrison.load_red(str(red), sample=True)
    envs = VectorEnv(4000, red=drawn, length=5)
    envs.reset(seed=0)
    masks = envs.red_view.action_masks()[0]
    logits = np.where(masks, drawn._network.logits(envs.red_view.observations()[:1], np.ones(1, bool))[0], -np.inf)
    odds = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    envs.step(np.zeros(4000, int))
    kinds = np.bincount(envs.truth.red_kind, minlength=7) / 4000
    assert kinds[RedKind.SLEEP] == pytest.approx(odds[0], abs=0.03)
    assert kinds[RedKind.SWEEP] == pytest.approx(odds[1:4].sum(), abs=0.03)


def test_names_that_are_no_attackers_are_a_sentence(red: Path, tmp_path: Path) -> None:
    assert find_red("bline") == "bline"
    assert find_red("module:Class") == "module:Class"
    with pytest.raises(UserError, match="did you mean 'bline'"):
        find_red("b_line")
    with pytest.raises(UserError, match="run folder, a checkpoint or module:Class"):
        find_red("runs/nothing-here")
    with pytest.raises(UserError, match="it is no attacker"):
        garrison.load_red(str(_shipped("record", tmp_path)))
    with pytest.raises(UserError, match="no defender of CAGE-2"):
        RedVectorEnv(1, blue=str(red))


def _shipped(name: str, folder: Path) -> Path:
    from garrison.agents.load import SHIPPED

    return Path(shutil.copy(SHIPPED[name], folder))
