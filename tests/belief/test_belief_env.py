"""Beliefs as bits: what they say, in a batch that shows them, and for an agent that reads them."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison import cli
from garrison.agents import load_agent
from garrison.agents.cage2_view import Cage2View
from garrison.belief import Beliefs
from garrison.belief.belief_bits import CUTS, ENTRY, HOST_FACTS, HOSTS, NUM_BELIEF_BITS, NUM_FACTS, PLAN
from garrison.belief.belief_env import BeliefEnv
from garrison.cage2 import VectorEnv
from garrison.cage2.names import NUM_HOSTS, Access, Host, Red
from garrison.errors import UserError
from garrison.export.cage2_tables import cage2_tables
from garrison.learn.config import JaxPPOConfig, PPOConfig
from garrison.storage import checkpoint
from garrison.tasks.registry import EnvConfig, task_of

REDS = ["bline", "meander", "sleep", "meander", "bline"]
SIZE = len(REDS)
LENGTH = 12


def plain_bits(beliefs: Beliefs) -> NDArray[np.int8]:
    """Say the same in NumPy, fact by fact."""
    rows = []
    for row in range(len(beliefs)):
        states, weights = beliefs.states(row), beliefs.weights(row)
        odds = np.zeros(NUM_FACTS)
        for red in range(PLAN):
            odds[red] = weights[states["red"] == red].sum()
        is_bline, is_meander = states["red"] == Red.BLINE, states["red"] == Red.MEANDER
        for place in range(PLAN, ENTRY):
            odds[place] = weights[is_bline & (states["bline_state"] == place - PLAN)].sum()
        for place in range(ENTRY, HOSTS):
            odds[place] = weights[is_bline & (states["bline_user"] == Host.USER0 + place - ENTRY)].sum()
        for host in range(NUM_HOSTS):
            facts = [
                states["access"][:, host] >= Access.USER,
                states["access"][:, host] >= Access.PRIVILEGED,
                states["hidden"][:, host] > 0,
                states["removable"][:, host] > 0,
                states["known_host"][:, host] != 0,
                *(is_meander & (states[name] >> host & 1 == 1) for name in ("scanned", "exploited", "escalated")),
                *(is_meander & (states[name] == host) for name in ("last_exploited", "last_owned")),
            ]
            begin = HOSTS + host * HOST_FACTS
            odds[begin : begin + HOST_FACTS] = [weights[fact].sum() for fact in facts]
        rows.append((odds[:, None] > CUTS).reshape(-1))
    return np.array(rows, np.int8)


def batch(mode: AutoresetMode = AutoresetMode.SAME_STEP, **settings: object) -> VectorEnv:
    return VectorEnv(SIZE, red=REDS, rules="leaderboard", length=LENGTH, autoreset_mode=mode, **settings)  # type: ignore[arg-type]


def choices(step: int, size: int = SIZE) -> NDArray[np.int64]:
    """Actions that restore and remove now and then, so that beliefs change."""
    return np.random.default_rng(step).integers(0, 145, SIZE)[:size]


def test_the_bits_say_how_likely_the_facts_are() -> None:
    envs, beliefs = batch(AutoresetMode.DISABLED), Beliefs(SIZE, "leaderboard")
    envs.reset(seed=3)
    found, seen = np.empty((SIZE, NUM_BELIEF_BITS), np.int8), []
    for step in range(LENGTH):
        beliefs.update(choices(step), envs.step(choices(step))[0])
        beliefs.write_bits(found)
        np.testing.assert_array_equal(found, plain_bits(beliefs))
        seen.append(found.copy())
    between = np.array(seen).reshape(LENGTH, SIZE, NUM_FACTS, len(CUTS))
    assert (between.max(axis=-1) > between.min(axis=-1)).any(), "some facts are neither certain nor ruled out"
    assert len(np.unique(np.array(seen).reshape(-1, NUM_BELIEF_BITS), axis=0)) > LENGTH


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_a_batch_shows_the_belief_of_the_episode_under_way(mode: AutoresetMode) -> None:
    shown_by, plain, beliefs = BeliefEnv(batch(mode, copy=False), 2), batch(mode), Beliefs(SIZE, "leaderboard")
    shown, _ = shown_by.reset(seed=3)
    observations, _ = plain.reset(seed=3)
    ended = np.zeros(SIZE, bool)
    for step in range(2 * LENGTH + 5):
        np.testing.assert_array_equal(shown[:, :52], observations)
        np.testing.assert_array_equal(shown[:, 52:], plain_bits(beliefs))
        assert shown_by.single_observation_space.contains(shown[0])
        shown, rewards, terminations, truncations, infos = shown_by.step(choices(step))
        observations, same_rewards, *ends, same_infos = plain.step(choices(step))
        np.testing.assert_array_equal(rewards, same_rewards)
        np.testing.assert_array_equal(shown_by.learning_rewards, same_rewards)
        np.testing.assert_array_equal([terminations, truncations], ends)
        if mode == AutoresetMode.NEXT_STEP:
            beliefs.update(choices(step), observations, ~ended)
            beliefs.begin(ended)
            ended = ends[1]
            continue
        if ends[1].any():
            beliefs.update(choices(step), plain.final_observations)
            last = np.hstack([plain.final_observations, plain_bits(beliefs)])
            np.testing.assert_array_equal(np.stack(list(infos["final_obs"])), last)
            np.testing.assert_array_equal(shown_by.final_observations, last)
            assert infos.keys() == same_infos.keys()
            beliefs.begin()
        else:
            beliefs.update(choices(step), observations)
    shown_by.close()
    assert shown_by.envs.closed


def test_what_is_shown_depends_on_no_neighbour() -> None:
    many, few = BeliefEnv(batch()), BeliefEnv(VectorEnv(2, red=REDS[:2], rules="leaderboard", length=LENGTH))
    shown, alone = many.reset(seed=3)[0], few.reset(seed=3)[0]
    for step in range(LENGTH):
        np.testing.assert_array_equal(shown[:2], alone)
        shown, alone = many.step(choices(step))[0], few.step(choices(step, 2))[0]


def test_an_agent_is_shown_what_the_batch_showed_in_training() -> None:
    envs = BeliefEnv(batch(observation="history"))
    size = envs.observation_space.shape[1]
    view = Cage2View(size, 145, "leaderboard", "challenge", "history", "all", masked=False, belief=True)
    shown, _ = envs.reset(seed=3)
    view.begin(SIZE)
    starts, step = np.ones(SIZE, bool), 0
    while step < 2 * LENGTH + 5:
        np.testing.assert_array_equal(view.inputs(shown[:, :52].copy(), starts), shown)
        twin = view.clone(np.array([1]))
        view.took(choices(step))
        shown, _, _, starts, _ = envs.step(choices(step))
        step += 1
        if step == 5:  # copies go on by themselves
            twin.took(choices(4)[[1]])
            np.testing.assert_array_equal(twin.inputs(shown[[1], :52], starts[[1]]), shown[[1]])
    assert view.memory() is None
    with pytest.raises(UserError, match="with a belief has"):
        Cage2View(52, 145, "leaderboard", "challenge", "bits", "all", masked=False, belief=True)


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(UserError, match="resets itself"):
        BeliefEnv(batch(AutoresetMode.DISABLED))
    with pytest.raises(UserError, match="without options"):
        BeliefEnv(batch()).reset(options={"reset_mask": np.ones(SIZE, bool)})
    config = EnvConfig(belief=True)
    with pytest.raises(UserError, match="'serial' has no beliefs"):
        task_of(dataclasses.replace(config, backend="serial")).check(PPOConfig())
    with pytest.raises(UserError, match="keeps no beliefs"):
        task_of(config).check(JaxPPOConfig())
    envs = task_of(config).make_envs(2)
    assert isinstance(envs, BeliefEnv)
    envs.close()


def test_what_was_trained_on_beliefs_plays_and_goes_on(tmp_path: Path) -> None:
    words = ["ppo-bline", "--belief", "--steps", "1600", "--envs", "8", "--rollout", "100", "--length", "30"]
    assert cli.main(["train", *words, "--evaluate-episodes", "2", "--out", str(tmp_path)]) == 0
    assert cli.main(["train", "--resume", str(tmp_path), "--steps", "2400", "--evaluate-episodes", "2"]) == 0
    assert checkpoint.load(tmp_path)["state"]["steps"] == 2400
    agent = load_agent(str(tmp_path))
    envs = VectorEnv(3, red="bline", rules="leaderboard", length=30)
    observations, _ = envs.reset(seed=1)
    agent.begin(3)
    for _ in range(5):
        observations, *_ = envs.step(agent.act(observations))
    assert agent.explain().probabilities.sum(axis=1) == pytest.approx(1)
    with pytest.raises(UserError, match="reads beliefs cannot be exported"):
        cage2_tables(checkpoint.load(tmp_path)["experiment"]["env"], masked=True)
