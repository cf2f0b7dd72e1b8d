"""Every metric that a learner logs is described once, and the docs say the same."""

from functools import partial
from pathlib import Path

import pytest

from garrison.learn import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig, a3c, impala, ppo
from garrison.learn.metrics import METRICS, meaning
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import Log

SMALL = {"rollout": 5, "compute": "autograd", "policy": PolicyConfig(hidden=(8,))}
BITS = partial(BitsEnv, length=4, actions=8)


def train_ppo(log: Log) -> None:
    ppo.train(PPOConfig(steps=200, threads=1, **SMALL), BITS(4), run=log)


def train_impala(log: Log) -> None:
    impala.train(ImpalaConfig(steps=200, actors=0, threads=1, **SMALL), BITS, 4, run=log)


def train_a3c(log: Log) -> None:
    a3c.train(A3CConfig(steps=200, actors=1, **SMALL), BITS, 4, run=log)


@pytest.mark.parametrize("train", [train_ppo, train_impala, train_a3c])
def test_every_logged_metric_is_described(train) -> None:
    log = Log()
    train(log)
    assert log.metrics
    unknown = {name for row in log.metrics for name in row if meaning(name) is None}
    assert not unknown


def test_the_learners_log_every_described_metric() -> None:
    log = Log()
    train_ppo(log)
    train_impala(log)
    seen = {name for row in log.metrics for name in row}
    families = {f"{name.rpartition('/')[0]}/*" for name in seen}
    assert set(METRICS) <= seen | families


def test_the_docs_show_the_same_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{name}` | {text} |" for name, text in METRICS.items()]
