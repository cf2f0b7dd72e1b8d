"""Atari games: the batch gives the bytes of single games, the preprocessing is the literature's, settings arrive."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison.errors import UserError
from garrison.runs import default_preset, train
from garrison.tasks.registry import EnvConfig, task_of
from tests.helpers.installed import needs_atari
from tests.helpers.played import is_same, trace

pytestmark = needs_atari
BREAKOUT = EnvConfig(env="ALE/Breakout-v5", envs=3)


def on(backend: str, **env_args: object) -> EnvConfig:
    return EnvConfig(env="ALE/Breakout-v5", envs=3, backend=backend, env_args=env_args)


def arrays(steps: list[object]) -> list[object]:
    """Without infos, whose form is the batch's own; rewards as numbers, whatever their type."""
    return [[part.astype(np.float64) if k == 1 else part for k, part in enumerate(step[:-1])] for step in steps]  # type: ignore[index]


def test_the_batch_gives_the_bytes_of_single_games_with_its_seeds() -> None:
    native, single = (trace(task_of(on(backend)).make_envs(3), 5, 250) for backend in ("native", "serial"))
    assert sum(int(step[2].sum()) for step in native[1:]) > 2
    assert is_same(arrays(native), arrays(single))
    for mine, theirs in zip(native[1:], single[1:], strict=True):
        for i in np.flatnonzero(mine[2] | mine[3]):
            assert np.array_equal(mine[4]["final_obs"][i], theirs[4]["final_obs"][i])


def test_an_observation_is_four_small_grey_frames() -> None:
    envs = task_of(BREAKOUT).make_envs(3)
    shown, _ = envs.reset(seed=[1, 2, 3])
    assert shown.shape == (3, 4, 84, 84)
    assert shown.dtype == np.uint8
    assert envs.single_action_space.n == 4
    envs.close()


def test_the_old_ids_are_the_same_games_without_sticky_actions() -> None:
    old, new = (
        trace(task_of(EnvConfig(env=env, env_args=args)).make_envs(2), 3, 50)
        for env, args in (
            ("BreakoutNoFrameskip-v4", {}),
            ("ALE/Breakout-v5", {"repeat_action_probability": 0.0}),
        )
    )
    sticky = trace(task_of(BREAKOUT).make_envs(2), 3, 50)
    assert is_same(arrays(old), arrays(new))
    assert not is_same(arrays(old), arrays(sticky))


def test_a_lost_life_ends_an_episode_only_if_that_is_asked_for() -> None:
    whole, lives = (trace(task_of(on("auto", episodic_life=flag)).make_envs(2), 1, 150) for flag in (False, True))
    assert sum(int(step[2].sum()) for step in lives[1:]) > sum(int(step[2].sum()) for step in whole[1:])


def test_wrong_calls_are_refused_in_a_sentence() -> None:
    envs = task_of(BREAKOUT).make_envs(2)
    with pytest.raises(UserError, match="seed"):
        envs.reset(seed=2**31)
    envs.close()
    from garrison.games.atari import AtariBatch

    with pytest.raises(UserError, match="resets itself"):
        AtariBatch("pong", 1, autoreset_mode="Disabled")


def test_a_score_is_that_of_the_whole_game_with_its_own_points() -> None:
    training = on("auto", episodic_life=True, reward_clipping=True, repeat_action_probability=0.0)
    scored = task_of(training).as_scored()
    assert scored == task_of(on("auto", repeat_action_probability=0.0))


def test_the_batch_is_trained_on_and_scored(tmp_path: Path) -> None:
    tiny = {"steps": 32, "envs": 2, "rollout": 8, "epochs": 1, "minibatches": 1, "hidden": (8,), "threads": 1}
    args = {"max_num_frames_per_episode": 200, "repeat_action_probability": 0.0}
    experiment = default_preset("ALE/Breakout-v5", env_args=args).changed(**tiny, evaluate_episodes=2)
    outcome = train(experiment, out=tmp_path / "run", progress=False)
    assert outcome.status == "finished"
    assert outcome.summary["evaluation"]["episodes"] == 2


@pytest.mark.parametrize("seed", [3, None])
def test_a_picture_is_the_screen_of_the_very_game_that_is_played(seed: int | None) -> None:
    from garrison.games.atari import SCREEN, AtariGame

    limit: dict[str, Any] = {"max_num_frames_per_episode": 80, "repeat_action_probability": 0.25}
    env = AtariGame("breakout", render_mode="rgb_array", **SCREEN, **limit)  # so the policy sees the screen too
    for each in (seed, None):  # the second episode goes on with the random numbers of the first
        shown, _ = env.reset(seed=each)
        ended, steps = False, 0
        while not ended:
            assert np.array_equal(env.render(), shown[-1])
            shown, _, terminated, truncated, _ = env.step(steps % 4)
            ended, steps = terminated or truncated, steps + 1
        assert np.array_equal(env.render(), shown[-1])
        assert steps > 10
    env.close()


def test_pictures_are_large_and_coloured_and_change_nothing_about_the_game() -> None:
    from garrison.games.atari import AtariGame

    painted, plain = AtariGame("breakout", render_mode="rgb_array"), AtariGame("breakout")
    assert np.array_equal(painted.reset(seed=1)[0], plain.reset(seed=1)[0])
    for t in range(20):
        assert is_same(painted.step(t % 4), plain.step(t % 4))
    picture = painted.render()
    assert picture is not None
    assert picture.shape == (210, 160, 3)
    assert np.ptp(picture.astype(int), axis=-1).max() > 50
    assert plain.render() is None
    painted.close()
    plain.close()


def test_films_run_at_the_speed_of_the_game() -> None:
    from garrison.games.atari import AtariGame

    assert [AtariGame("breakout", frameskip=n).metadata["render_fps"] for n in (4, 2)] == [15, 30]


def test_continuous_actions_reach_a_single_game() -> None:
    from garrison.games.atari import AtariGame

    game = AtariGame("breakout", continuous=True)
    game.reset(seed=0)
    assert game.step(np.array([1.0, 0.0, 1.0], np.float32))[0].shape == (4, 84, 84)
    game.close()
