"""An epoch in compiled code: as one minibatch after the other through Python, on any number of threads."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.learn.nn.adam import Adam
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.epoch import GROUP, SMALLEST_PART, Step, Stride, one_by_one, share_of
from garrison.learn.nn.groups import Groups, singles
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


def repeat(batch: TrainingBatch, kinds: int) -> None:
    """Let the samples show and allow what a few of them do; what they chose is theirs, and allowed."""
    kind = np.random.default_rng(5).integers(0, kinds, len(batch.returns))
    batch.observations[:] = batch.observations[kind]
    if len(batch.masks):
        batch.masks[:] = batch.masks[kind]
        batch.choices[:] = batch.choices[kind]
        batch.masks[::2] = True  # two masks for each observation


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("kinds", [1, 20, 200])
@pytest.mark.parametrize("masked", [False, True])
def test_samples_that_are_computed_together_count_as_if_each_was_alone(threads: int, kinds: int, masked: bool) -> None:
    terms = TERMS._replace(value_clip=0.2)
    network, adam, batch, minibatches = start(threads, masked)
    repeat(batch, kinds)
    steps = network.learn(batch, minibatches, terms, adam, STRIDE)
    network.close()
    assert batch.group_numbers.max() < kinds * (2 if masked else 1)
    slow, slow_adam, _, _ = start(1, masked)
    expected = one_by_one(slow, batch, minibatches, terms, slow_adam, STRIDE)
    slow.close()
    for a, b in zip(steps, expected, strict=True):
        np.testing.assert_allclose((*a.means, a.norm), (*b.means, b.norm), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(adam.flat, slow_adam.flat, rtol=0, atol=2e-5)


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


@pytest.mark.parametrize("length", [1, 63, 127, 128, 129, 1000])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_shares_of_single_samples_are_of_one_length(length: int, threads: int) -> None:
    groups = singles(np.arange(length))
    parts = [part for me in range(threads) if len(part := share_of(groups, threads, me).heads)]
    assert len(parts) == max(1, min(threads, length // SMALLEST_PART))
    assert np.concatenate(parts).tolist() == [*range(length)]
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_who_has_large_groups_has_fewer() -> None:
    sizes = np.array([40] * 128 + [1] * 128)
    members = np.arange(sizes.sum())
    borders = np.concatenate(([0], np.cumsum(sizes)))
    groups = Groups(members, borders[:-1], borders)
    parts = [share_of(groups, 2, me) for me in range(2)]
    assert np.concatenate([part.heads for part in parts]).tolist() == groups.heads.tolist()
    assert parts[0].borders[-1] == parts[1].borders[0]
    times = [GROUP * len(part.heads) + part.borders[-1] - part.borders[0] for part in parts]
    assert max(times) - sum(times) / 2 < GROUP + 40
