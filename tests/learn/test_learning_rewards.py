"""Where environments say what to learn from, that is learned from, and scores are what is reported."""

from typing import Any

import numpy as np
import pytest

from garrison.learn import PolicyConfig
from garrison.learn.collector import Collector
from garrison.learn.envs import TrainableEnvs, policy_of
from garrison.learn.nn.network import make_network
from garrison.learn.rollout import Rollout
from garrison.learn.stopwatch import Stopwatch
from garrison.learn.tensors import to_arrays, to_tensors
from tests.helpers.bits_env import BitsEnv


class Teacher(BitsEnv):
    """Its rewards are 0 or 1; what to learn from is the number of the step."""

    taken = 0
    learning_rewards = np.zeros(0)

    def step(self, actions: Any) -> tuple[Any, ...]:  # type: ignore[override]
        self.taken += 1
        self.learning_rewards = np.full(self.num_envs, float(self.taken))
        return super().step(actions)


@pytest.mark.parametrize("kind", [Teacher, BitsEnv])
def test_a_rollout_holds_what_to_learn_from_and_episodes_their_scores(kind: type[BitsEnv]) -> None:
    envs = kind(6, actions=4, length=5, staggered=False)
    policy = policy_of(envs, PolicyConfig(hidden=(8,)))
    network = make_network(policy, 6, "auto", 1)
    collector = Collector(envs, network, seed=0, masked=False)
    collector.reset(0)
    rollout = Rollout.allocate(10, 6, policy.observations, policy.actions, masked=False)
    returns, lengths = collector.collect(rollout, Stopwatch())
    assert lengths == [5] * 12
    assert max(returns) <= 5
    if kind is Teacher:
        assert rollout.rewards.tolist() == [[step] * 6 for step in range(1, 11)]
        assert sum(returns) < rollout.rewards.sum()
    else:
        assert sum(returns) == rollout.rewards.sum()
    network.close()


def test_some_environments_have_their_own_share() -> None:
    envs = Teacher(4)
    envs.learning_rewards = np.arange(4.0)
    trainable = TrainableEnvs(envs)
    assert trainable.learning_rewards(np.zeros(2), np.array([3, 1])).tolist() == [3, 1]


def test_bytes_of_records_are_read_by_the_layout_that_fits_their_number() -> None:
    older, newer = np.dtype([("a", "i4")]), np.dtype([("a", "i4"), ("b", "i4")])
    saved = to_tensors(np.array([(1,), (2,), (3,)], older))
    found = to_arrays(saved, np.zeros(3, newer), (older,))
    assert found.dtype == older
    assert found["a"].tolist() == [1, 2, 3]
    same = to_arrays(to_tensors(np.zeros(3, newer)), np.zeros(3, newer), (older,))
    assert same.dtype == newer
    with pytest.raises(ValueError, match="size"):
        to_arrays(saved, np.zeros(3, newer))
