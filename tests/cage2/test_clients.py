"""What other people's code does with the environment: wrappers, checkers, learners."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics, TimeAwareObservation
from gymnasium.wrappers.vector import RecordEpisodeStatistics as RecordBatchStatistics

from garrison.cage2 import Env, VectorEnv
from garrison.cage2.names import HOSTS
from garrison.errors import UserError

ID = "garrison/CAGE2-v0"


def test_gymnasiums_episode_statistics_live_beside_ours() -> None:
    env = RecordEpisodeStatistics(gymnasium.make(ID, length=3))
    env.reset(seed=0)
    total = 0.0
    for _ in range(3):
        _, reward, _, truncated, info = env.step(132)
        total += float(reward)
    assert truncated
    assert info["episode_stats"] == {"r": pytest.approx(total), "l": 3}
    assert (info["episode"]["r"], info["episode"]["l"]) == (pytest.approx(total), 3)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("made", ["vector_entry_point", "sync", "class"])
def test_gymnasiums_batch_statistics_live_beside_ours(mode: AutoresetMode, made: str) -> None:
    if made == "class":
        envs: Any = VectorEnv(2, length=3, autoreset_mode=mode)
    elif made == "sync":
        envs = gymnasium.make_vec(ID, 2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, length=3)
    else:
        envs = gymnasium.make_vec(ID, 2, autoreset_mode=mode, length=3)
    recorded = RecordBatchStatistics(envs)
    recorded.reset(seed=0)
    for _ in range(3):
        *_, infos = recorded.step(np.array([132, 0]))
    ours = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
    assert ours["episode_stats"]["r"].tolist() == pytest.approx(infos["episode"]["r"].tolist())
    assert ours["episode_stats"]["l"].tolist() == infos["episode"]["l"].tolist() == [3, 3]
    assert ("episode_stats" in infos) is (mode != AutoresetMode.SAME_STEP)


@pytest.mark.parametrize("spelling", ["same_step", "SameStep", AutoresetMode.SAME_STEP])
def test_make_vec_takes_every_spelling_of_an_autoreset_mode(spelling: Any) -> None:
    envs: Any = gymnasium.make_vec(ID, 2, autoreset_mode=spelling)
    assert envs.unwrapped.autoreset_mode == AutoresetMode.SAME_STEP


def test_what_a_batch_returned_does_not_change_under_the_caller() -> None:
    for envs in (gymnasium.make_vec(ID, 3, length=4), VectorEnv(3, length=4).clone(), VectorEnv(3, length=4)):
        kept: list[Any] = [envs.reset(seed=0)[0]]
        copies = [kept[0].copy()]
        for action in (0, 132, 20, 50, 0, 133):
            results = envs.step(np.full(3, action))
            kept += results[:4]
            copies += [part.copy() for part in results[:4]]
        for mine, then in zip(kept, copies, strict=True):
            np.testing.assert_array_equal(mine, then)


def test_a_clone_keeps_the_choice_of_buffers() -> None:
    for copy in (True, False):
        twin = VectorEnv(2, copy=copy).clone()
        twin.reset(seed=0)
        assert (twin.step([0, 0])[0] is twin.step([0, 0])[0]) is not copy


def test_a_closed_batch_says_so_and_a_clone_of_it_is_open() -> None:
    envs = VectorEnv(2)
    envs.reset(seed=0)
    envs.close()
    for call in (envs.reset, lambda: envs.step([0, 0])):
        with pytest.raises(ClosedEnvironmentError, match="closed; make a new one") as caught:
            call()
        assert isinstance(caught.value, UserError)
    envs.clone().step([0, 0])


def test_time_aware_observations_work_with_a_spec_that_names_the_length() -> None:
    env = TimeAwareObservation(gymnasium.make(ID, length=5, max_episode_steps=5), flatten=False)
    env.reset(seed=0)
    ends = [env.step(0)[3] for _ in range(5)]
    assert ends == [False] * 4 + [True]


@pytest.mark.filterwarnings("ignore:.*different render modes.*")
@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "human"])
def test_gymnasiums_check_passes_in_every_render_mode(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = gymnasium.make(ID, render_mode=mode).unwrapped
    check_env(env)
    capsys.readouterr()  # the check also makes environments of the other modes
    env.step(0)
    assert ("Compromised" in capsys.readouterr().out) is (mode == "human")


def test_the_picture_shows_access_belief_events_and_decoys() -> None:
    envs = VectorEnv(2, red="bline", render_mode="rgb_array")
    envs.reset(seed=1)
    first = envs.render()
    assert first is not None
    assert len(first) == 2
    assert first[0].dtype == np.uint8
    assert first[0].shape == first[1].shape
    assert first[0].shape[2] == 3
    np.testing.assert_array_equal(first[0], first[1])  # both are at their beginning
    for field, value in (("access", 2), ("belief", 3), ("decoys", 1)):
        for h in range(len(HOSTS)):
            trial = envs.clone()
            trial._envs[field][0, h] = value if h != 8 or field != "access" else 1
            assert (trial.picture(0) != first[0]).any(), (field, h)
    for _ in range(6):
        envs.step([0, 0])
    later = envs.render()
    assert later is not None
    assert (later[0] != first[0]).any()
    one = Env(render_mode="rgb_array")
    one.reset(seed=1)
    np.testing.assert_array_equal(one.render(), first[0])


def test_unknown_render_modes_are_named() -> None:
    with pytest.raises(UserError, match="unknown render_mode 'rgb_arry'; did you mean 'rgb_array'"):
        Env(render_mode="rgb_arry")
    with pytest.raises(UserError, match="unknown render_mode 'human'"):
        VectorEnv(2, render_mode="human")


@pytest.mark.filterwarnings("default")
def test_stable_baselines_usual_way_in_works() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    model = sb3.PPO("MlpPolicy", ID, n_steps=16, batch_size=16, n_epochs=1, device="cpu")
    model.learn(16)
    assert model.num_timesteps == 16


@pytest.mark.parametrize("actions", ["all", "compact"])
def test_action_masks_are_in_the_infos_on_request(actions: str) -> None:
    envs = VectorEnv(2, length=3, actions=actions, action_mask_infos=True, autoreset_mode="SameStep")
    one = Env(length=3, actions=actions, action_mask_infos=True)
    infos, info = envs.reset(seed=0)[1], one.reset(seed=0)[1]
    for _ in range(4):
        np.testing.assert_array_equal(infos["action_mask"], envs.action_masks())
        assert infos["_action_mask"].all()
        np.testing.assert_array_equal(info["action_mask"], one.action_masks())
        infos = envs.step([20, 30])[4]
        if not envs.truth.t.any():
            break
        info = one.step(20)[4]
    assert "action_mask" not in VectorEnv(2).reset(seed=0)[1]
    assert "action_mask" not in Env().reset(seed=0)[1]
