"""IMPALA: its gradient is the paper's; in one process it is repeatable and resumable, over processes it is whole."""

from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn import impala, stages, stopwatch
from garrison.learn.actors.actor import Actor, ActorSpec, actor_seed
from garrison.learn.actors.transport import ActorReport, Buffer, Layout, Trajectory
from garrison.learn.config import ImpalaConfig, PolicyConfig
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.loss import Terms
from garrison.learn.nn.policy import Policy
from garrison.learn.result import Diverged
from garrison.learn.rollout import TrainingBatch
from garrison.learn.stopwatch import Stopwatch
from garrison.learn.vtrace import vtrace
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import Log, Poisoned, Talking, random_batch, random_policy, same
from tests.helpers.processes import eventually, gone

SMALL: dict[str, Any] = {"rollout": 25, "threads": 1, "policy": PolicyConfig(hidden=(16,))}
BITS = partial(BitsEnv, length=10)


def filled(policy: PolicyConfig, compute: str, masked: bool = False) -> tuple[Any, Any, Any]:
    actor = Actor(ActorSpec(BITS, 20, policy, masked, compute), seed=3)
    actor.collector.reset(3)
    buffer = Layout(actor.policy, 25, 20, masked).carve()
    actor.fill(buffer, 0)  # the second one begins with a memory
    actor.fill(buffer, 0)
    return actor, buffer.rollout, torch.from_numpy(buffer.memory)


def test_a_learner_with_convolutions_computes_on_every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impala, "cores", lambda: 4)
    image, numbers = spaces.Box(0, 255, (36, 36, 3), np.uint8), spaces.Box(-1.0, 1.0, (3,))
    found = {
        name: impala.cores_for_learner(Policy(space, spaces.Discrete(2), PolicyConfig(hidden=(4,))), actors)
        for name, space, actors in (("image", image, 3), ("numbers", numbers, 3), ("many actors", numbers, 9))
    }
    assert found == {"image": 4, "numbers": 1, "many actors": 1}


POLICIES = {
    "compiled": (PolicyConfig(hidden=(16,)), "compiled"),
    "autograd": (PolicyConfig(hidden=(16,)), "autograd"),
    "gru": (PolicyConfig(hidden=(16,), recurrent_size=8), "autograd"),
}


@pytest.mark.parametrize("kind", POLICIES)
def test_evaluating_with_the_weights_that_acted_gives_what_acting_gave(kind: str) -> None:
    actor, rollout, memory = filled(*POLICIES[kind])
    log_probs, values = actor.network.evaluate(rollout, memory)
    np.testing.assert_allclose(log_probs, rollout.log_probs, atol=2e-6)
    np.testing.assert_allclose(values[:-1], rollout.values, atol=2e-6)
    ended = rollout.terminations[-1] | rollout.truncations[-1]
    np.testing.assert_allclose(values[-1][~ended], rollout.last_values[~ended], atol=2e-6)
    actor.close()


@pytest.mark.parametrize("masked", [False, True])
def test_compiled_and_plain_evaluation_agree(masked: bool) -> None:
    policy = random_policy(spaces.Box(0, 1, (52,), np.int8), spaces.MultiDiscrete([7, 5]))
    batch = random_batch(policy, 3, 300, masked)
    layout = Layout(policy, 3, 300, masked)
    rollout = layout.carve().rollout
    rollout.observations[:-1] = batch.observations.reshape(rollout.observations[:-1].shape)
    rollout.choices[:] = batch.choices.reshape(rollout.choices.shape)
    if masked:
        rollout.masks[:] = batch.masks.reshape(rollout.masks.shape)
    slow, fast = AutogradNetwork(policy, 300, 1), CompiledNetwork(policy, 300, 2)
    memory = policy.initial_state(300)
    for a, b in zip(slow.evaluate(rollout, memory), fast.evaluate(rollout, memory), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    fast.close()


@pytest.mark.parametrize("kind", POLICIES)
def test_the_first_gradient_of_an_update_is_the_papers(kind: str) -> None:
    """By plain autograd: min(rho_bar, pi / mu) (r + gamma v_next - V) grad log pi, the value's and the entropy's."""
    config, compute = POLICIES[kind]
    actor, rollout, memory = filled(config, compute)
    policy: Policy = actor.policy
    policy.flat.add_(0.3 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(1)))
    log_probs, values = actor.network.evaluate(rollout, memory)
    rest = (rollout.terminations, rollout.truncations, rollout.final_values, values[-1], 0.9)
    trace = vtrace(log_probs - rollout.log_probs, rollout.rewards, values[:-1], *rest)
    assert trace.weights.min() < 0.9  # it is off-policy
    weighted = trace.advantages * trace.weights
    batch = TrainingBatch.of(rollout, weighted, memory, log_probs, values[:-1], trace.targets)
    rows = np.arange(500).reshape(25, 20) if policy.is_recurrent else np.arange(500)
    means = actor.network.gradient(batch, rows, Terms(impala.UNCLIPPED, 0.0, 0.5, 0.01))
    assert abs(means.approx_kl) < 1e-6
    ours = actor.network.gradients.clone()

    inputs = np.empty((500, policy.observations.size), np.float32)
    policy.observations.inputs(batch.observations, np.arange(500), inputs)
    logits, predicted, _ = policy((torch.from_numpy(inputs),), memory, torch.from_numpy(rollout.starts))
    chosen = torch.log_softmax(logits.reshape(500, -1), 1)
    picked = chosen.gather(1, torch.from_numpy(batch.choices).long()).squeeze(1)
    loss = -(torch.from_numpy(weighted.reshape(-1)) * picked).mean()
    loss = loss + 0.5 * 0.5 * ((predicted.reshape(-1) - torch.from_numpy(batch.returns)) ** 2).mean()
    loss = loss + 0.01 * (chosen.exp() * chosen).sum(1).mean()
    paper = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, list(policy.parameters()))])
    torch.testing.assert_close(ours, paper, rtol=1e-3, atol=2e-6)
    actor.close()


def test_an_update_learns_from_weighted_advantages_and_corrected_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ImpalaConfig(
        actors=0, normalise_advantages="none", gamma=0.9, vtrace_lambda=0.8, rho_bar=0.9, c_bar=0.7, **SMALL
    )
    actor, rollout, memory = filled(SMALL["policy"], "autograd")
    policy = Policy(actor.envs.single_observation_space, actor.envs.single_action_space, SMALL["policy"], seed=5)
    policy.flat.add_(0.3 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(1)))
    learner = impala.ImpalaLearner(config, policy, Layout(policy, 25, 20, False), threads=1)
    learner.updates = 1  # so that what acted with version 0 is old
    log_probs, values = learner.network.evaluate(rollout, memory)
    given: list[TrainingBatch] = []
    real = learner.network.learn
    monkeypatch.setattr(learner.network, "learn", lambda batch, *rest: (given.append(batch), real(batch, *rest))[1])
    learner.gathered.add(Trajectory(Buffer(rollout, memory.numpy()), ActorReport(0, [], [], {"act": 1.0}), actor=0))
    metrics = learner.update(0.0, Stopwatch(stages.ASYNCHRONOUS), dict)

    rest = (rollout.terminations, rollout.truncations, rollout.final_values, values[-1], 0.9, 0.9, 0.7, 0.8)
    trace = vtrace(log_probs - rollout.log_probs, rollout.rewards, values[:-1], *rest)
    np.testing.assert_allclose(given[0].advantages, (trace.advantages * trace.weights).reshape(-1))
    np.testing.assert_allclose(given[0].returns, trace.targets.reshape(-1))
    np.testing.assert_allclose(given[0].log_probs, log_probs.reshape(-1))
    assert metrics["train/policy_lag"] == 1
    assert metrics["train/vtrace_weight"] == pytest.approx(trace.weights.mean(), rel=1e-5)
    assert metrics["train/vtrace_weight"] < 0.89
    actor.close()
    learner.network.close()


SYNC = {
    "pure": ImpalaConfig(steps=2000, actors=0, **SMALL),
    "reusing": ImpalaConfig(steps=2000, actors=0, epochs=2, minibatches=4, batch=2, **SMALL),
    "gru": ImpalaConfig(
        steps=2000, actors=0, **{**SMALL, "policy": PolicyConfig(hidden=(16,), recurrent_size=8)}, minibatches=2
    ),
}


@pytest.mark.parametrize("kind", SYNC)
def test_the_same_seed_gives_the_same_bytes_also_when_resumed(kind: str) -> None:
    config = SYNC[kind]
    whole, again = impala.train(config, BITS, 20), impala.train(config, BITS, 20)
    assert same(whole.state, again.state)
    part = impala.train(config, BITS, 20, Log(updates=1))
    assert part.steps < whole.steps
    rest = impala.train(config, BITS, 20, resume=part.state)
    assert rest.exact_resume
    assert same(rest.state, whole.state)
    other = impala.train(ImpalaConfig(**{**vars(config), "seed": 1}), BITS, 20)
    assert not same(other.state, whole.state)


def test_metrics_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopwatch, "perf_counter", partial(next, count()))  # a clock that counts how often it is read
    log = Talking()
    result = impala.train(SYNC["reusing"], BITS, 20, log)
    assert log.steps == [1000, 2000]
    assert log.states[-1] is result.state
    last = log.metrics[-1]
    assert last["train/policy_lag"] == last["train/policy_lag_max"] == 0
    assert last["train/vtrace_weight"] == pytest.approx(1, abs=1e-6)
    assert last["rollout/ep_length_mean"] == 10
    assert last["train/actors"] == 0
    assert last["time_split/act"] > last["time_split/step"] == 2 * 25
    assert last["time_split/wait"] == 2  # one reading for each trajectory: collecting it is no waiting
    assert sum(v for k, v in last.items() if k.startswith("actors/")) == pytest.approx(1)


class Noted(BitsEnv):
    """Adds a byte to a file for each step."""

    def __init__(self, num_envs: int, file: Path) -> None:
        super().__init__(num_envs, length=10)
        self.file = file

    def step(self, actions: Any) -> Any:
        with self.file.open("ab") as file:
            file.write(b".")
        return super().step(actions)


class Dawdling(Talking):
    """Lets the actors fill all their buffers after the first update, so that some trajectories wait, and grow old."""

    def __init__(self, file: Path, steps: int) -> None:
        super().__init__()
        self.file, self.wanted = file, steps

    def log(self, step: int, metrics: dict[str, float]) -> None:
        super().log(step, metrics)
        assert eventually(lambda: self.file.stat().st_size >= self.wanted)


def test_actor_processes_report_lag_and_are_gone_afterwards(tmp_path: Path) -> None:
    config = ImpalaConfig(steps=5000, actors=2, buffers=2, **SMALL)
    log = Dawdling(tmp_path / "steps", steps=(1 + 2 * 2) * 25)  # of the first update, and of all buffers
    result = impala.train(config, partial(Noted, file=log.file), 20, log)
    assert result.steps >= 5000
    assert not result.exact_resume
    assert result.state["collector"] == {"envs": None}
    assert {m["train/actors"] for m in log.metrics} == {2}
    assert log.metrics[0]["train/policy_lag_max"] == 0
    assert log.metrics[2]["train/policy_lag_max"] >= 1  # it waited while the second update was made
    assert all(0 <= m["train/publish_share"] < 1 for m in log.metrics)
    assert not log.said
    assert log.family
    assert gone(log.family)
    resumed = impala.train(ImpalaConfig(**{**vars(config), "steps": 6000}), BITS, 20, resume=result.state)
    assert 6000 <= resumed.steps < 7000
    into_sync = impala.train(
        ImpalaConfig(**{**vars(config), "steps": 6000, "actors": 0}), BITS, 20, resume=result.state
    )
    assert not into_sync.exact_resume


def test_actors_have_seeds_of_their_own() -> None:
    ranges = [range(actor_seed(7, place, 20), actor_seed(7, place, 20) + 20) for place in range(50)]
    assert len({seed for seeds in ranges for seed in seeds}) == 1000


def test_what_is_not_finite_ends_the_run_with_the_last_good_state() -> None:
    log = Log()
    with pytest.raises(Diverged, match="rewards are not finite"):
        impala.train(SYNC["pure"], Poisoned, 20, log)
    assert log.states[-1]["updates"] == 0
    with pytest.raises(Diverged, match="A lower learning_rate"):
        impala.train(
            ImpalaConfig(**{**vars(SYNC["reusing"]), "learning_rate": 1e30, "max_grad_norm": 0.0}), BITS, 20, log
        )
    assert np.isfinite(log.states[-1]["weights"].numpy()).all()


def test_a_state_that_does_not_fit_is_refused() -> None:
    state = impala.train(SYNC["pure"], BITS, 20).state
    with pytest.raises(UserError, match="algorithm 'ppo'"):
        impala.train(SYNC["pure"], BITS, 20, resume={**state, "algorithm": "ppo"})
    with pytest.raises(UserError, match="20 environments, and there are 10"):
        impala.train(SYNC["pure"], BITS, 10, resume=state)
    with pytest.raises(UserError, match="weights"):
        impala.train(ImpalaConfig(**{**vars(SYNC["pure"]), "policy": PolicyConfig()}), BITS, 20, resume=state)


@pytest.mark.parametrize(
    ("name", "value"), [("actors", -2), ("rho_bar", 0.0), ("clip", -1.0), ("vtrace_lambda", 2.0), ("batch", 0)]
)
def test_settings_are_checked(name: str, value: float) -> None:
    with pytest.raises(UserError, match=f"{name} cannot be {value}"):
        ImpalaConfig(**{name: value})
