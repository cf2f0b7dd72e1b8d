"""PPO on the device: repeatable, resumable bit for bit, loud when it diverges; it learns."""

import inspect
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import torch

from garrison.errors import UserError
from garrison.learn import Diverged, JaxPPOConfig, PolicyConfig, ppo, train
from garrison.learn.jax_ppo import learner
from garrison.learn.metrics import meaning
from garrison.learn.nn.policy import Policy
from garrison.learn.stages import ON_DEVICE
from garrison.storage.saved_run import agents_of
from tests.helpers.bits_env import BitsEnv
from tests.helpers.jax_env import GymnaxBits, JaxBits
from tests.helpers.learning import Log, same

SMALL = JaxPPOConfig(steps=4000, rollout=25, minibatches=4, policy=PolicyConfig(hidden=(16,)))
ENVS = 20
BATCH = 500
SCHEDULED = replace(
    SMALL,
    action_masks=True,
    entropy_schedule="linear",
    target_kl=0.0005,
    value_clip=0.2,
    normalise_advantages="batch",
)


def test_it_has_the_signature_of_the_other_learners() -> None:
    mine, theirs = (inspect.signature(each.train).parameters for each in (learner, ppo))
    assert [(name, each.default) for name, each in mine.items()] == [(n, each.default) for n, each in theirs.items()]


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded


@pytest.mark.parametrize("config", [SMALL, SCHEDULED, replace(SMALL, seeds=2)], ids=["usual", "scheduled", "two seeds"])
def test_stopping_and_resuming_changes_no_bit(config: JaxPPOConfig) -> None:
    """However the updates are divided into calls."""
    whole = train(config, JaxBits(), ENVS)
    part = train(config, JaxBits(), ENVS, run=Log(updates=1))
    assert part.steps == BATCH
    rest = train(config, JaxBits(), ENVS, resume=through_a_file(part.state))
    assert rest.exact_resume
    assert rest.steps == whole.steps == 4000
    assert same(rest.state, whole.state)
    assert not torch.equal(whole.policy.flat, part.policy.flat)


def test_episodes_that_were_not_kept_begin_anew() -> None:
    part = train(SMALL, JaxBits(), ENVS, run=Log(updates=1))
    part.state["collector"]["envs"] = None
    rest = train(SMALL, JaxBits(), ENVS, resume=part.state)
    assert not rest.exact_resume
    assert rest.steps == 4000


def test_a_seed_draws_the_weights_that_it_draws_for_the_other_learners() -> None:
    stopped = train(replace(SMALL, seed=7, seeds=2), JaxBits(), ENVS, run=Log(updates=0))
    for seed, agent in zip((7, 8), agents_of(stopped.state), strict=True):
        fresh = Policy(JaxBits().observation_space(None), JaxBits().action_space(None), SMALL.policy, seed)
        assert torch.equal(agent["weights"], fresh.flat)


def test_agents_trained_together_are_those_trained_alone_but_for_rounding() -> None:
    """An update later; from then on rounding decides single actions."""
    config = replace(SMALL, steps=BATCH, seeds=2)
    together = agents_of(train(config, JaxBits(), ENVS).state)
    alone = [train(config.alone(seed), JaxBits(), ENVS).state for seed in range(2)]
    for one, other in zip(together, alone, strict=True):
        assert one["recent_returns"] == other["recent_returns"]
        assert same(one["collector"], other["collector"])
        torch.testing.assert_close(one["weights"], other["weights"], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(together[0]["weights"], together[1]["weights"])


def test_metrics_have_their_final_names_for_every_agent_and_their_mean() -> None:
    class Several(Log):
        def __init__(self) -> None:
            super().__init__()
            self.agents: list[tuple[int, int, dict[str, float]]] = []

        def log_agent(self, number: int, step: int, metrics: dict[str, float]) -> None:
            self.agents.append((number, step, metrics))

    log = Several()
    result = train(replace(SMALL, steps=3 * BATCH, seeds=2), JaxBits(), ENVS, run=log)
    assert log.steps == [BATCH, 2 * BATCH, 3 * BATCH]
    assert [(number, step) for number, step, _ in log.agents] == [(n, step) for step in log.steps for n in (0, 1)]
    wanted = {f"time_split/{stage}" for stage in ON_DEVICE} | {
        *("time/fps", "train/learning_rate", "rollout/ep_reward_mean", "rollout/ep_length_mean"),
        *("train/policy_loss", "train/value_loss", "train/entropy", "train/approx_kl", "train/clip_fraction"),
        *("train/grad_norm", "train/explained_variance", "train/entropy_coef", "train/epochs", "rollout/episodes"),
        *(f"actions/{number}" for number in range(8)),
    }
    for row in (*log.metrics, *(metrics for _, _, metrics in log.agents)):
        assert set(row) == wanted
        assert all(type(value) in (int, float) for value in row.values())
        assert sum(row[f"actions/{number}"] for number in range(8)) == pytest.approx(1.0, abs=1e-5)
    assert all(meaning(name) for name in wanted)
    for name in ("train/entropy", "rollout/ep_reward_mean", "train/grad_norm"):
        assert log.metrics[-1][name] == pytest.approx(np.mean([row[name] for _, _, row in log.agents[-2:]]))
    assert [row["train/learning_rate"] for row in log.metrics] == pytest.approx([1e-3, 2e-3 / 3, 1e-3 / 3])
    assert sum(result.times.values()) <= result.seconds
    assert len(log.states) == 1


@pytest.mark.parametrize("masked", [False, True])
def test_it_learns(masked: bool) -> None:
    config = replace(SMALL, steps=40_000, learning_rate=1e-2, gamma=0.0, action_masks=masked)
    log = Log()
    train(config, JaxBits(length=10), ENVS, run=log)
    before, after = (row["rollout/ep_reward_mean"] for row in (log.metrics[0], log.metrics[-1]))
    assert before < 5  # of 10; one action in eight is right, and of those that masks leave, one in four
    assert after > 9


def test_an_environment_by_gymnax_own_rules_terminates() -> None:
    """Paid 1 for every step: worth the sum until the end if that terminates, far more if it is only cut."""

    def last_values(env: Any) -> float:
        config = replace(SMALL, steps=40_000, learning_rate=1e-2, gamma=0.95, entropy_coef=0.0)
        policy = train(config, env, ENVS).policy
        with torch.inference_mode():
            values = policy((torch.from_numpy(np.random.default_rng(0).integers(0, 2, (50, 10))).float(),))[1]
        return float(values.mean())

    class Paid(JaxBits):
        def step(self, *args: Any) -> Any:
            observation, state, _, done, info = super().step(*args)
            return observation, state, jnp.float32(1.0), done, info

    class GymnaxPaid(GymnaxBits):
        def step(self, *args: Any) -> Any:
            observation, state, _, done, info = super().step(*args)
            return observation, state, jnp.float32(1.0), done, info

    assert last_values(GymnaxPaid(length=2)) < 3
    assert last_values(Paid(length=2)) > 10


def test_a_loss_that_is_not_finite_stops_with_the_last_good_state() -> None:
    log = Log()
    config = replace(SMALL, learning_rate=1e30, max_grad_norm=0.0)
    with pytest.raises(Diverged, match="not finite since update 1 "):
        train(config, JaxBits(), ENVS, run=log)
    fresh = Policy(JaxBits().observation_space(None), JaxBits().action_space(None), config.policy, 0)
    assert torch.equal(log.states[-1]["weights"], fresh.flat)
    assert log.states[-1]["adam"]["steps"] == log.states[-1]["steps"] == 0


def test_a_reward_that_is_not_finite_is_noticed_within_a_call() -> None:
    """The state is that of the update before, which is made once more."""

    class Poisoned(JaxBits):
        def step(self, key: Any, state: Any, action: Any, params: Any) -> Any:
            observation, state, reward, done, info = super().step(key, state, action, params)
            return observation, state, jnp.where(state.time == 105, jnp.nan, reward), done, info

    log = Log()
    with pytest.raises(Diverged, match="the sum of the rewards is not finite since update 3 "):
        train(SMALL, Poisoned(length=1000, starts=40), ENVS, run=log)
    assert log.steps == [BATCH, 2 * BATCH]
    good = train(SMALL, JaxBits(length=1000, starts=40), ENVS, run=Log(updates=1))
    again = train(SMALL, Poisoned(length=1000, starts=40), ENVS, run=Log(updates=1), resume=good.state)
    assert same(log.states[-1]["weights"], again.state["weights"])
    assert log.states[-1]["steps"] == again.state["steps"] == 2 * BATCH


def test_training_starts_from_given_weights() -> None:
    first = train(SMALL, JaxBits(), ENVS, run=Log(updates=1)).policy.flat
    again = train(SMALL, JaxBits(), ENVS, run=Log(updates=0), weights=first)
    assert torch.equal(again.policy.flat, first)
    with pytest.raises(UserError, match="cannot start: the state holds 3 weights"):
        train(SMALL, JaxBits(), ENVS, weights=torch.zeros(3))


def test_a_foreign_state_is_refused() -> None:
    state = train(SMALL, JaxBits(), ENVS, run=Log(updates=0)).state
    with pytest.raises(UserError, match="algorithm 'ppo'"):
        train(SMALL, JaxBits(), ENVS, resume=state | {"algorithm": "ppo"})
    with pytest.raises(UserError, match="cannot resume with 2 seeds: the run has 1"):
        train(replace(SMALL, seeds=2), JaxBits(), ENVS, resume=state)
    with pytest.raises(UserError, match="saved episodes do not fit"):
        train(SMALL, JaxBits(), 2 * ENVS, resume=state)
    with pytest.raises(UserError, match="this policy has"):
        train(replace(SMALL, policy=PolicyConfig(hidden=(8,))), JaxBits(), ENVS, resume=state)


def test_what_the_device_cannot_do_is_refused_in_a_sentence() -> None:
    class Unmasked(JaxBits):
        get_avail_actions = property()

    with pytest.raises(UserError, match="BitsEnv has no 'default_params': give it one written in JAX"):
        train(SMALL, BitsEnv(4), 4)
    with pytest.raises(UserError, match="num_envs is missing"):
        train(SMALL, JaxBits())
    with pytest.raises(UserError, match=r"4 environments x 25 steps cannot be divided into 8\."):
        train(replace(SMALL, minibatches=8), JaxBits(), 4)
    with pytest.raises(UserError, match="no get_avail_actions"):
        train(replace(SMALL, action_masks=True), Unmasked(), 4)
    with pytest.raises(UserError, match="device 'cuda' is not available: JAX sees only cpu"):
        train(replace(SMALL, device="cuda"), JaxBits(), 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 0}, "seeds cannot be 0"),
        ({"seed": 2**63 - 1, "seeds": 2}, "the last agent's seed"),
        ({"compute": "compiled"}, "computed by JAX"),
        ({"threads": 2}, "XLA decides"),
        ({"normalise_returns": True}, "only the fixed reward_scale"),
        ({"policy": PolicyConfig(recurrent_size=8)}, "ppo-jax has no GRU"),
        ({"policy": PolicyConfig(encoder="nature")}, "dense layers only"),
        ({"policy": PolicyConfig(normalise_observations=True)}, "observations as they are"),
        ({"policy": PolicyConfig(critic_extras=("access",))}, "critic_extras"),
    ],
)
def test_settings_that_it_does_not_have_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        JaxPPOConfig(**changes)
