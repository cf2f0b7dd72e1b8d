"""CAGE-2 as Red meets it, with a frozen defender inside."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from garrison.agents import RedVectorEnv, load_agent
from garrison.cage2 import VectorEnv
from garrison.cage2.red_moves import KINDS_AND_TARGETS
from garrison.contract.misuse import NotReset
from garrison.errors import UserError
from garrison.registration import CAGE2_RED


def moves(envs: Any, random: np.random.Generator) -> np.ndarray:
    """Draw moves that Red may make."""
    masks = envs.action_masks()
    return np.where(masks, random.random(masks.shape), -1).argmax(axis=1)


@pytest.mark.parametrize("blue", ["react-restore", "record"])
def test_it_is_the_simulators_own_game_from_the_other_side(blue: str) -> None:
    envs = RedVectorEnv(6, blue=blue, length=25, autoreset_mode="Disabled", rules="leaderboard")
    twin = VectorEnv(6, red="external", length=25, autoreset_mode="Disabled", rules="leaderboard")
    agent, random = load_agent(blue), np.random.default_rng(0)
    envs.reset(seed=4)
    shown, _ = twin.reset(seed=4)
    agent.begin(6)
    for _ in range(25):
        chosen = moves(envs, random)
        observations, rewards, _, truncations, infos = envs.step(chosen)
        shown, expected, *_ = twin.step({"blue": agent.act(shown), "red": KINDS_AND_TARGETS[chosen]})
        assert (rewards == -expected).all()
        assert envs.observation_space.contains(observations)
        assert (envs.truth.access == twin.truth.access).all()
    assert truncations.all()
    assert np.allclose(infos["episode_stats"]["r"], -twin.get_state()["total"])
    assert (infos["episode_stats"]["r"] > 0).any()


def test_the_modes_of_autoreset_play_the_same_episodes() -> None:
    lengths, played = 12, {}
    for mode in ("Disabled", "SameStep", "NextStep"):
        envs = RedVectorEnv(5, blue="react-restore,alert-restore", length=lengths, autoreset_mode=mode)
        random, rewards, observations = np.random.default_rng(1), [], []
        envs.reset(seed=2)
        for _ in range(3):
            for t in range(lengths):
                seen, reward, _, truncations, infos = envs.step(moves(envs, random))
                rewards.append(reward)
                if t == lengths - 1:
                    assert truncations.all()
                    if mode == "SameStep":
                        observations.append(np.stack(infos["final_obs"]))
                        assert (envs.final_observations == observations[-1]).all()
                    else:
                        observations.append(seen)
                else:
                    observations.append(seen)
            if mode == "Disabled":
                envs.reset(options={"reset_mask": truncations})
            elif mode == "NextStep":
                _, reward, _, truncations, _ = envs.step(np.zeros(5, int))
                assert not reward.any()
                assert not truncations.any()
        played[mode] = np.array(rewards), np.array(observations)
    for other in ("SameStep", "NextStep"):
        for one, two in zip(played["Disabled"], played[other], strict=True):
            assert (one == two).all()


def test_one_environment_passes_gymnasiums_check_and_plays_as_in_a_batch() -> None:
    env: Any = gymnasium.make(CAGE2_RED, blue="sleep", length=20, render_mode="ansi")
    check_env(env.unwrapped, skip_render_check=True)
    batch = RedVectorEnv(1, blue="sleep", length=20, autoreset_mode="Disabled")
    random = np.random.default_rng(3)
    first, _ = env.reset(seed=1)
    assert (first == batch.reset(seed=1)[0][0]).all()
    for _ in range(20):
        chosen = moves(batch, random)
        assert (env.unwrapped.action_masks() == batch.action_masks()[0]).all()
        seen, reward, terminated, truncated, info = env.step(chosen[0])
        observations, rewards, *_ = batch.step(chosen)
        assert (reward, terminated) == (rewards[0], False)
        assert (seen == observations[0]).all()
    assert truncated
    assert info["episode_stats"]["l"] == 20
    assert "Op_Server0" in env.render()


def test_wrong_calls_are_a_sentence() -> None:
    envs = RedVectorEnv(2, length=1, autoreset_mode="Disabled")
    with pytest.raises(NotReset, match="before the first"):
        envs.step([0, 0])
    envs.reset(seed=0)
    with pytest.raises(UserError, match="red move 44"):
        envs.step([0, 44])
    with pytest.raises(UserError, match="shape"):
        envs.step([0])
    envs.step([0, 0])
    with pytest.raises(NotReset, match="have ended"):
        envs.step([0, 0])
