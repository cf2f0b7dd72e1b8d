"""Which actions were taken is logged by every learner: by kind where they have names, by number where they are few."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from gymnasium import spaces

from garrison.learn import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig, a3c, impala, ppo
from garrison.learn.action_mix import MOST, action_mix, count_actions
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import Log

SMALL = {"rollout": 5, "compute": "autograd", "policy": PolicyConfig(hidden=(8,))}
BITS = partial(BitsEnv, length=4, actions=8)
ACTIONS = 8


class Named(Log):
    """Calls the first action idle and all others busy."""

    @property
    def action_kinds(self) -> tuple[str, ...]:
        return ("idle", *["busy"] * (ACTIONS - 1))


def train_ppo(log: Log) -> None:
    ppo.train(PPOConfig(steps=200, threads=1, **SMALL), BITS(4), run=log)


def train_impala(log: Log) -> None:
    impala.train(ImpalaConfig(steps=200, actors=0, threads=1, **SMALL), BITS, 4, run=log)


def train_a3c(log: Log) -> None:
    a3c.train(A3CConfig(steps=200, actors=1, **SMALL), BITS, 4, run=log)


@pytest.mark.parametrize("train", [train_ppo, train_impala, train_a3c])
def test_every_learner_logs_shares_by_number_and_by_name(train: Callable[[Log], None]) -> None:
    log, named = Log(), Named()
    train(log)
    train(named)
    for run, names in ((log, {f"actions/{k}" for k in range(ACTIONS)}), (named, {"actions/idle", "actions/busy"})):
        for row in run.metrics:
            shares = {name: share for name, share in row.items() if name.startswith("actions/")}
            assert set(shares) == names
            assert sum(shares.values()) == pytest.approx(1.0, abs=1e-5)
            assert len(set(shares.values())) > 1


def test_only_steps_of_the_task_are_counted_and_the_shares_are_theirs() -> None:
    counts = count_actions(np.array([[2], [2], [0], [1]], np.int32), spaces.Discrete(3))
    assert counts is not None
    assert counts.tolist() == [1, 1, 2]
    assert action_mix(counts, None) == {"actions/0": 0.25, "actions/1": 0.25, "actions/2": 0.5}


def test_other_actions_and_many_numbers_are_not_logged() -> None:
    assert count_actions(np.zeros((4, 2)), spaces.Box(-1, 1, (2,))) is None
    assert count_actions(np.zeros((4, 2), np.int32), spaces.MultiDiscrete([3, 3])) is None
    assert action_mix(None, None) == {}
    many = np.ones(MOST + 1, np.int64)
    assert action_mix(many, None) == {}
    assert action_mix(many, ["one"] * (MOST + 1)) == {"actions/one": pytest.approx(1.0)}
