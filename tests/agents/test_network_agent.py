"""The network agent: given 52 bits, it sees, remembers, forbids and plays as the batch it was trained in."""

from typing import Any

import numpy as np
import pytest
import torch

from garrison.agents import NetworkAgent
from garrison.agents.forward import PlainNetwork, TorchNetwork
from garrison.agents.network_agent import _value_unit
from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.challenge.evaluation import evaluate
from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.description import describe_policy
from garrison.learn.nn.policy import Policy

REDS = {"bline": 0.5, "meander": 0.5}


def make_policy(envs: Any, recurrent: int = 0) -> Policy:
    config = PolicyConfig(hidden=(24,), recurrent_size=recurrent)
    policy = Policy(envs.single_observation_space, envs.single_action_space, config, seed=4)
    policy.flat.copy_(0.5 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(1)))
    return policy


@pytest.mark.parametrize("rules", ["head", "leaderboard"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("observation", "actions"), [("bits", "all"), ("memory", "compact"), ("memory", "all")])
def test_the_agent_plays_52_bits_as_the_policy_plays_its_own_batch(
    observation: str, actions: str, masked: bool, rules: str
) -> None:
    common: dict[str, Any] = {"red": REDS, "rules": rules, "length": 23, "autoreset_mode": "SameStep"}
    told = VectorEnv(48, observation=observation, actions=actions, **common)
    bare = VectorEnv(48, **common)
    policy = make_policy(told)
    agent = NetworkAgent(TorchNetwork(policy), rules=rules, observation=observation, actions=actions, masked=masked)
    agent.begin(48)
    seen, _ = told.reset(seed=5)
    bits, _ = bare.reset(seed=5)
    random = np.random.default_rng(0)
    taken = set()
    for step in range(60):
        logits = policy((torch.from_numpy(seen.astype(np.float32)),))[0].detach().numpy().copy()
        if masked:
            logits[~told.action_masks()] = -np.inf
        chosen = agent.act(bits)
        assert np.array_equal(ACTION_IDS[actions][logits.argmax(axis=1)], chosen), step
        if step % 3 == 2:  # a random network repeats itself, so now and then all do something else
            chosen[:] = ACTION_IDS[actions][random.integers(len(ACTION_IDS[actions]), size=48)]
        taken |= set(chosen.tolist())
        seen, *_ = told.step(np.searchsorted(ACTION_IDS[actions], chosen))
        bits, _, _, truncations, _ = bare.step(chosen)
        agent.reset(truncations)
    assert len(taken) > 50


def test_the_memory_of_a_gru_is_kept_for_each_environment_and_forgotten_at_a_reset() -> None:
    envs = VectorEnv(6, red="meander")
    agent = NetworkAgent(TorchNetwork(make_policy(envs, recurrent=16)))
    random = np.random.default_rng(2)
    shown = random.integers(2, size=(20, 6, 52)).astype(np.int8)
    agent.begin(6)
    together = np.array([agent.act(row) for row in shown])
    for i in range(6):  # alone as in the batch
        agent.begin(1)
        assert [int(agent.act(row[i : i + 1])[0]) for row in shown] == together[:, i].tolist()
    agent.begin(6)
    for row in shown[:7]:
        agent.act(row)
    agent.reset(np.array([True, False, False, True, False, False]))
    again = np.array([agent.act(row) for row in shown[7:]])
    for i in (1, 2, 4, 5):
        assert again[:, i].tolist() == together[7:, i].tolist()
    for i in (0, 3):
        agent.begin(1)
        assert again[:, i].tolist() == [int(agent.act(row[i : i + 1])[0]) for row in shown[7:]]


def test_sampling_follows_the_softmax_and_its_seed() -> None:
    envs = VectorEnv(1)
    policy = make_policy(envs)
    agent = NetworkAgent(TorchNetwork(policy), sample=True)
    bits = np.zeros((20_000, 52), np.int8)
    agent.begin(len(bits), seed=1)
    drawn = agent.act(bits).copy()
    odds = torch.softmax(policy((torch.zeros(1, 52),))[0], dim=1)[0].detach().numpy()
    counts = np.bincount(drawn, minlength=145)
    assert np.abs(counts / len(bits) - odds).max() < 5 * np.sqrt(odds.max() / len(bits))
    agent.begin(len(bits), seed=1)
    assert np.array_equal(agent.act(bits), drawn)
    agent.begin(len(bits), seed=2)
    assert not np.array_equal(agent.act(bits), drawn)


def test_a_network_is_evaluated_the_same_twice() -> None:
    agent = NetworkAgent(TorchNetwork(make_policy(VectorEnv(1))))
    first, second = (evaluate(agent, episodes=20) for _ in range(2))
    assert first == second


def test_acting_leaves_torchs_threads_as_they_were() -> None:
    before = torch.get_num_threads()
    agent = NetworkAgent(TorchNetwork(make_policy(VectorEnv(1))))
    agent.begin(3)
    agent.act(np.zeros((3, 52), np.int8))
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("trunk", ["separate", "shared"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("hidden", [(8,), (24, 16), (16, 16, 8)])
def test_numpy_computes_what_torch_computes(hidden: tuple[int, ...], activation: str, trunk: str) -> None:
    envs = VectorEnv(1, observation="memory", actions="compact")
    config = PolicyConfig(hidden=hidden, activation=activation, trunk=trunk)
    policy = Policy(envs.single_observation_space, envs.single_action_space, config)
    policy.flat.copy_(0.5 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(1)))
    plain = PlainNetwork(
        describe_policy(config, envs.single_observation_space, envs.single_action_space), policy.flat.numpy()
    )
    rows = np.random.default_rng(0).integers(0, 2, (50, plain.size)).astype(np.int8)
    starts = np.zeros(50, np.bool_)
    torch_network = TorchNetwork(policy)
    torch_network.begin(50)
    np.testing.assert_allclose(plain.logits(rows, starts), torch_network.logits(rows, starts), rtol=1e-4, atol=1e-4)


def test_a_wrong_number_of_weights_is_named() -> None:
    envs = VectorEnv(1)
    description = describe_policy(PolicyConfig(), envs.single_observation_space, envs.single_action_space)
    for count in (10, 30_000):
        with pytest.raises(UserError, match=f"holds {count} weights"):
            PlainNetwork(description, np.zeros(count, np.float32))


def test_a_network_for_another_observation_is_named() -> None:
    network = TorchNetwork(make_policy(VectorEnv(1, observation="memory")))
    with pytest.raises(UserError, match="observation 'bits' has 52"):
        NetworkAgent(network)


def test_probabilities_masks_and_values_are_those_of_the_policy() -> None:
    envs = VectorEnv(16, red=REDS, length=23, observation="memory", actions="compact")
    bare = VectorEnv(16, red=REDS, length=23)
    policy = make_policy(envs)
    plain = PlainNetwork(
        describe_policy(policy.config, envs.single_observation_space, envs.single_action_space), policy.flat.numpy()
    )
    ids = ACTION_IDS["compact"]
    agents = [
        NetworkAgent(network, observation="memory", actions="compact", masked=True, value_unit=4.0)
        for network in (plain, TorchNetwork(policy))
    ]
    for agent in agents:
        agent.begin(16)
        seen, bits = envs.reset(seed=5)[0], bare.reset(seed=5)[0]
        for _ in range(8):
            actions = agent.act(bits)
            logits, values, _ = policy((torch.from_numpy(seen.astype(np.float32)),))
            masks = envs.action_masks()
            logits[torch.from_numpy(~masks)] = -torch.inf
            said = agent.explain()
            assert np.allclose(said.probabilities[:, ids], torch.softmax(logits, 1).detach().numpy(), atol=1e-6)
            assert np.array_equal(said.masked[:, ids], ~masks)
            assert np.allclose(said.probabilities.sum(axis=1), 1)
            assert said.values is not None
            assert np.allclose(said.values, 4 * values.detach().numpy(), atol=1e-4)
            seen, bits = envs.step(np.searchsorted(ids, actions))[0], bare.step(actions)[0]


@pytest.mark.parametrize("trunk", ["shared", "separate"])
def test_a_gru_tells_the_value_of_the_state_that_it_was_in(trunk: str) -> None:
    envs = VectorEnv(4, red="meander")
    config = PolicyConfig(hidden=(8,), recurrent_size=5, trunk=trunk)
    policy = Policy(envs.single_observation_space, envs.single_action_space, config, seed=1)
    agent = NetworkAgent(TorchNetwork(policy), value_unit=1.0)
    agent.begin(4)
    seen, _ = envs.reset(seed=1)
    state, starts = policy.initial_state(4), torch.ones(1, 4, dtype=torch.bool)
    for _ in range(5):
        actions = agent.act(seen)
        _, values, state = policy((torch.from_numpy(seen.astype(np.float32)),), state, starts)
        starts = torch.zeros_like(starts)
        told = agent.explain().values
        if trunk == "shared":
            assert told is not None
            assert np.allclose(told, values.detach().numpy(), atol=1e-5)
        else:  # the critic's own state is not kept while playing
            assert told is None
        seen, *_ = envs.step(actions)


def test_a_critic_that_was_left_out_tells_no_value() -> None:
    envs = VectorEnv(1)
    policy = make_policy(envs)
    policy.value_head.weight.data.zero_()
    described = describe_policy(policy.config, envs.single_observation_space, envs.single_action_space)
    for network in (PlainNetwork(described, policy.flat.numpy()), TorchNetwork(policy)):
        agent = NetworkAgent(network, value_unit=1.0)
        agent.begin(1)
        agent.act(envs.reset(seed=0)[0])
        assert agent.explain().values is None


@pytest.mark.parametrize("recurrent", [0, 6])
def test_a_clone_goes_on_by_itself_from_what_was_remembered(recurrent: int) -> None:
    envs = VectorEnv(3, red=REDS, observation="memory", actions="compact")
    bare = VectorEnv(3, red=REDS)
    policy = make_policy(envs, recurrent)
    common: dict[str, Any] = {"observation": "memory", "actions": "compact", "masked": True}
    agent, again = (NetworkAgent(TorchNetwork(policy), **common) for _ in range(2))
    rows = np.array([2, 0, 2, 1, 1])
    for one in (agent, again):
        one.begin(3)
    history = [bare.reset(seed=9)[0]]
    for _ in range(6):
        agent.act(history[-1])
        other = np.random.default_rng(len(history)).choice(ACTION_IDS["compact"], 3)
        agent.took(other)
        history.append(bare.step(other)[0])
    twin = agent.clone(rows, seed=1)
    # A fresh agent that saw the rows' history is in the same state as the clone.
    fresh = NetworkAgent(TorchNetwork(policy), **common)
    fresh.begin(5)
    for number, bits in enumerate(history[:-1], 1):
        fresh.act(bits[rows])
        fresh.took(np.random.default_rng(number).choice(ACTION_IDS["compact"], 3)[rows])
    for _ in range(4):
        chosen = twin.act(history[-1][rows])
        assert np.array_equal(chosen, fresh.act(history[-1][rows]))
        assert np.allclose(twin.explain().probabilities, fresh.explain().probabilities, atol=1e-6)
    # And the first one has not noticed.
    for number, bits in enumerate(history[:-1], 1):
        again.act(bits)
        again.took(np.random.default_rng(number).choice(ACTION_IDS["compact"], 3))
    assert np.array_equal(agent.act(history[-1]), again.act(history[-1]))
    assert np.allclose(agent.explain().probabilities, again.explain().probabilities, atol=1e-6)


def test_values_are_scaled_back_as_rewards_were_scaled() -> None:
    moments = {"reward_scale": {"moments": np.array([10.0, 0.0, 40.0])}}
    assert _value_unit({}, {}, {}) == 1
    assert _value_unit({}, {"reward_scale": 0.5}, moments) == 2
    assert _value_unit({}, {"reward_scale": 0.5, "normalise_returns": True}, moments) == 4
    assert _value_unit({}, {"normalise_returns": True}, {}) is None  # a checkpoint without the learner's state
    assert _value_unit({"reward": "score"}, {}, {}) == 1
    assert _value_unit({"reward": "regret"}, {}, {}) is None
