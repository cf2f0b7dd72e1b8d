"""How many threads a network gets when nobody says."""

import pytest
from gymnasium import spaces

from garrison.learn import PolicyConfig, PPOConfig, ppo
from garrison.learn.nn.network import choose_threads
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import random_policy


@pytest.mark.parametrize(
    ("asked", "recurrent_size", "num_envs", "threads"),
    [
        (0, 0, 1024, 8),
        (0, 0, 4, 8),  # the compiled network wakes no more of them than there is work for
        (0, 16, 1024, 8),
        (0, 16, 256, 2),
        (0, 16, 64, 1),
        (3, 16, 64, 3),
        (3, 0, 64, 3),
    ],
)
def test_a_gru_of_few_environments_gets_few_threads(
    asked: int, recurrent_size: int, num_envs: int, threads: int
) -> None:
    policy = random_policy(spaces.MultiBinary(8), spaces.Discrete(3), recurrent_size=recurrent_size)
    assert choose_threads(asked, 8, policy, num_envs) == threads


def test_ppo_trains_a_small_gru_on_one_thread() -> None:
    config = PPOConfig(steps=50, rollout=10, minibatches=1, policy=PolicyConfig(hidden=(8,), recurrent_size=8))
    assert ppo.train(config, BitsEnv(4)).threads == 1
