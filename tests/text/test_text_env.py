import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import garrison
from garrison.cage2 import Env
from garrison.text import TextEnv, action_name, names_of
from garrison.text.notebook import VIEWS


@pytest.mark.parametrize("rename", ["", "shuffled:4"])
@pytest.mark.parametrize("red", ["bline", "meander", {"bline": 0.5, "meander": 0.5}])
def test_the_same_seed_and_actions_give_the_same_game(red: object, rename: str) -> None:
    words, bits = TextEnv(red, length=30, rename=rename), Env(red=red, length=30)  # type: ignore[arg-type]
    random = np.random.default_rng(3)
    for seed in (7, 2**63 + 5):
        words.reset(seed=seed)
        bits.reset(seed=seed)
        for _ in range(30):
            action = int(random.integers(145))
            words.step("restore the lot")  # refused: nothing moves
            _, reward, terminated, truncated, info = words.step(action_name(action, words.names))
            assert (reward, terminated, truncated) == bits.step(action)[1:4]
            assert info["action"] == action_name(action, names_of(rename))
            assert words.inner.batch.get_state().tobytes() == bits.batch.get_state().tobytes()
        assert info["episode_stats"]["r"] == bits.total
        assert truncated


def test_a_refused_action_plays_nothing_and_says_why() -> None:
    env = TextEnv(length=5, view="sentences")
    before, _ = env.reset(seed=0)
    state = env.inner.batch.get_state().tobytes()
    observation, reward, terminated, truncated, info = env.step("isolate user1")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation == f"Your action was refused: {info['refused']}\n\n{before}"
    assert env.inner.batch.get_state().tobytes() == state
    assert "refused" not in env.step("sleep")[0]


@pytest.mark.parametrize("view", VIEWS)
def test_gymnasium_finds_nothing_wrong(view: str) -> None:
    assert garrison.__version__
    env = gymnasium.make("garrison/CAGE2-Text-v0", view=view, length=10, render_mode="ansi")
    check_env(env.unwrapped)
    observation, _ = env.reset(seed=1)
    for action in ("DecoyTomcat User1", {"action": "Restore", "host": "User1"}, "nonsense é", "Sleep"):
        observation = env.step(action)[0]  # type: ignore[arg-type]
        assert observation in env.observation_space
        assert env.render() == observation  # type: ignore[comparison-overlap]


def test_a_batch_of_texts() -> None:
    envs = gymnasium.make_vec(
        "garrison/CAGE2-Text-v0", num_envs=3, vectorization_mode="sync", length=4, view="sentences"
    )
    texts, _ = envs.reset(seed=[5, 6, 7])
    ones = [TextEnv(length=4, view="sentences") for _ in range(3)]
    assert list(texts) == [one.reset(seed=5 + k)[0] for k, one in enumerate(ones)]
    for _ in range(4):
        said = ["sleep", "nonsense", "restore user1"]
        texts, rewards, _, truncations, infos = envs.step(said)
        single = [one.step(action) for one, action in zip(ones, said, strict=True)]
        assert list(texts) == [step[0] for step in single]
        assert rewards.tolist() == [step[1] for step in single]
        assert infos["_refused"].tolist() == [False, True, False]
    assert truncations.tolist() == [True, False, True]
    envs.close()
