"""An epoch in compiled code: as one minibatch after the other through Python, on any number of threads."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.learn.nn.adam import Adam
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.epoch import Step, Stride, one_by_one, share_of
from garrison.learn.nn.loss import Terms
from garrison.learn.rollout import TrainingBatch
from tests.helpers.learning import random_batch, random_policy

BITS = spaces.MultiBinary(52)
TERMS = Terms(0.2, 0.0, 0.5, 0.01)
STRIDE = Stride(1e-3, 0.5, normalises=True)


def start(threads: int, masked: bool = False) -> tuple[CompiledNetwork, Adam, TrainingBatch, list[np.ndarray]]:
    policy = random_policy(BITS, spaces.Discrete(145), hidden=(32, 32))
    batch = random_batch(policy, 9, 100, masked)
    minibatches = batch.minibatches(3, False, np.random.default_rng(0))
    return CompiledNetwork(policy, 100, threads), Adam(policy.flat), batch, minibatches


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("stride", [STRIDE, Stride(1e-3, 0.0, normalises=False)])
@pytest.mark.parametrize("masked", [False, True])
def test_an_epoch_equals_its_minibatches_one_by_one(threads: int, stride: Stride, masked: bool) -> None:
    network, adam, batch, minibatches = start(threads, masked)
    steps = network.learn(batch, minibatches, TERMS, adam, stride)
    network.close()
    slow, slow_adam, batch, minibatches = start(1, masked)
    expected = one_by_one(slow, batch, minibatches, TERMS, slow_adam, stride)
    slow.close()
    assert adam.steps == slow_adam.steps == 3
    for a, b in zip(steps, expected, strict=True):
        np.testing.assert_allclose((*a.means, a.norm), (*b.means, b.norm), rtol=1e-4, atol=1e-6)
    for a, b in ((adam.flat, slow_adam.flat), (adam.first, slow_adam.first), (adam.second, slow_adam.second)):
        torch.testing.assert_close(a, b, rtol=0, atol=2e-5)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_epoch_is_the_same_every_time(threads: int) -> None:
    found = []
    for _ in range(3):
        network, adam, batch, minibatches = start(threads)
        steps: list[Step] = []
        for _ in range(4):
            steps += network.learn(batch, minibatches, TERMS, adam, STRIDE)
        network.close()
        found.append((adam.flat.numpy().tobytes(), steps))
    assert found[0] == found[1] == found[2]


def test_an_epoch_ends_where_something_is_not_finite() -> None:
    for _ in range(20):  # whichever thread is the first to notice
        network, adam, batch, minibatches = start(2)
        batch.returns[minibatches[1][5]] = np.nan
        steps = network.learn(batch, minibatches, TERMS, adam, STRIDE)
        assert [step.is_finite for step in steps] == [True, False]
        assert adam.steps == 1
        network.close()
    network, adam, batch, minibatches = start(2)
    before = adam.flat.clone()
    batch.returns[minibatches[0][5]] = np.nan
    assert len(network.learn(batch, minibatches, TERMS, adam, STRIDE)) == 1
    assert torch.equal(adam.flat, before)
    network.close()


@pytest.mark.parametrize("length", [1, 127, 255, 256, 257, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_shares_are_those_of_array_split(length: int, threads: int) -> None:
    rows = np.arange(length)
    parts = [part for me in range(threads) if len(part := share_of(rows, threads, me))]
    expected = np.array_split(rows, max(1, min(threads, length // 128)))
    assert [part.tolist() for part in parts] == [part.tolist() for part in expected]
