"""The sampler: frequencies, log-probabilities, masks, streams; and the functions under it."""

import math

import numpy as np
import pytest

from garrison.jit import kernel
from garrison.learn.nn.arithmetic import exp, tanh
from garrison.learn.nn.groups import singles
from garrison.learn.nn.sampling import draw, make_streams, pick_best

NO_MASKS = np.ones((0, 0), np.bool_)


@kernel
def _map_exp(xs: np.ndarray, out: np.ndarray) -> None:
    for j in range(xs.shape[0]):
        out[j] = exp(xs[j])


@kernel
def _map_tanh(xs: np.ndarray, out: np.ndarray) -> None:
    for j in range(xs.shape[0]):
        out[j] = tanh(xs[j])


def draws(logits: np.ndarray, count: int, sizes: tuple[int, ...], masks: np.ndarray = NO_MASKS, seed: int = 0):
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    rows = np.tile(logits.astype(np.float32), (count, 1))
    indices, log_probs = np.empty((count, len(sizes)), np.int32), np.empty(count, np.float32)
    bias = np.zeros(rows.shape[1], np.float32)
    draw(rows, singles(np.arange(count)), bias, masks, offsets, make_streams(seed, count), indices, log_probs)
    return indices, log_probs


def test_exp_is_accurate_and_ends_in_zero() -> None:
    xs = np.concatenate((np.linspace(-86.9, 85, 100_001), [-87.5, -1e30, np.nan])).astype(np.float32)
    out = np.empty_like(xs)
    _map_exp(xs, out)
    np.testing.assert_allclose(out[:-3], np.exp(xs[:-3].astype(np.float64)), rtol=3e-7)
    assert out[-3:-1].tolist() == [0.0, 0.0]
    assert np.isnan(out[-1])


def test_tanh_is_accurate_and_keeps_nan() -> None:
    xs = np.concatenate((np.linspace(-30, 30, 100_001), [np.nan])).astype(np.float32)
    out = np.empty_like(xs)
    _map_tanh(xs, out)
    np.testing.assert_allclose(out[:-1], np.tanh(xs[:-1].astype(np.float64)), atol=4e-7)
    assert np.isnan(out[-1])


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 33, 145])
def test_frequencies_match_probabilities(size: int) -> None:
    logits = np.random.default_rng(size).normal(0, 1.5, size)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    count = 200_000
    indices, log_probs = draws(logits, count, (size,))
    frequencies = np.bincount(indices[:, 0], minlength=size) / count
    deviation = np.sqrt(probabilities * (1 - probabilities) / count)
    assert (np.abs(frequencies - probabilities) < 5 * deviation + 1e-9).all()
    np.testing.assert_allclose(log_probs, np.log(probabilities)[indices[:, 0]], atol=2e-6)


def test_heads_are_independent_and_their_log_probs_add() -> None:
    logits = np.array([0.0, 1.0, 2.0, -1.0, 0.5])
    first, second = np.exp(logits[:2]) / np.exp(logits[:2]).sum(), np.exp(logits[2:]) / np.exp(logits[2:]).sum()
    indices, log_probs = draws(logits, 100_000, (2, 3))
    joint = np.zeros((2, 3))
    np.add.at(joint, (indices[:, 0], indices[:, 1]), 1 / 100_000)
    np.testing.assert_allclose(joint, np.outer(first, second), atol=0.006)
    np.testing.assert_allclose(log_probs, np.log(first[indices[:, 0]] * second[indices[:, 1]]), atol=2e-6)


def test_masked_choices_are_never_drawn() -> None:
    random = np.random.default_rng(0)
    masks = random.random((20_000, 145)) < 0.1
    masks[:, 77] = True
    indices, log_probs = draws(random.normal(0, 5, 145), 20_000, (145,), masks)
    assert masks[np.arange(20_000), indices[:, 0]].all()
    assert np.isfinite(log_probs).all()


def test_extreme_logits_do_not_overflow() -> None:
    indices, log_probs = draws(np.array([3000.0, -3000.0, 2999.0]), 1000, (3,))
    assert set(indices[:, 0]) == {0, 2}
    assert np.isfinite(log_probs).all()


def test_an_environment_draws_the_same_in_any_batch() -> None:
    logits = np.random.default_rng(1).normal(0, 1, (40, 145)).astype(np.float32)
    offsets, bias = np.array([0, 145]), np.zeros(145, np.float32)

    def run(parts: list[slice]) -> np.ndarray:
        streams = make_streams(5, 40)
        chosen = np.empty((3, 40, 1), np.int32)
        for t in range(3):
            for part in parts:
                rows, log_probs = logits[part].copy(), np.empty(40, np.float32)
                draw(
                    rows,
                    singles(np.arange(len(rows))),
                    bias,
                    NO_MASKS,
                    offsets,
                    streams[part],
                    chosen[t, part],
                    log_probs[part],
                )
        return chosen

    whole = run([slice(0, 40)])
    assert np.array_equal(whole, run([slice(0, 7), slice(7, 40)]))
    assert not np.array_equal(whole[0], whole[1])
    assert np.array_equal(make_streams(5, 40)[7:], make_streams(5, 33, first=7))
    assert not np.array_equal(make_streams(5, 40), make_streams(6, 40))


def test_pick_best_respects_masks_and_heads() -> None:
    logits = np.array([[0.0, 3.0, 1.0, 5.0, 4.0]], np.float32)
    masks = np.array([[True, False, True, True, True]])
    indices = np.empty((1, 2), np.int32)
    pick_best(logits, np.zeros(5, np.float32), masks, np.array([0, 3, 5]), indices)
    assert indices.tolist() == [[2, 0]]


def test_the_streams_are_uniform() -> None:
    indices, log_probs = draws(np.zeros(1000), 500_000, (1000,))
    counts = np.bincount(indices[:, 0], minlength=1000)
    chi = ((counts - 500.0) ** 2 / 500.0).sum()
    assert abs(chi - 999) < 5 * math.sqrt(2 * 999)
    np.testing.assert_allclose(log_probs, -math.log(1000), atol=1e-5)
