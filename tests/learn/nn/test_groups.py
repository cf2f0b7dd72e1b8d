"""Groups: samples that show the network the same are found, all of them, and no others."""

import numpy as np
import pytest
from gymnasium import spaces

from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.groups import Groups, gather_groups, number_groups
from garrison.learn.nn.sampling import make_streams
from tests.helpers.learning import random_policy

NO_MASKS = np.empty((0, 0), np.bool_)
RANDOM = np.random.default_rng(4)


def kinds_of(samples: np.ndarray) -> list[int]:
    """Return the number of each row, in the order of their first."""
    seen: dict[bytes, int] = {}
    return [seen.setdefault(row.tobytes(), len(seen)) for row in samples]


@pytest.mark.parametrize("width", [1, 7, 8, 24])
@pytest.mark.parametrize("kinds", [1, 5, 300])
def test_samples_have_the_same_number_exactly_if_they_are_the_same(width: int, kinds: int) -> None:
    bits = RANDOM.integers(0, 256, (kinds, width), np.uint8)[RANDOM.integers(0, kinds, 300)]
    assert number_groups(bits, NO_MASKS).tolist() == kinds_of(bits)


def test_one_bit_makes_another_group() -> None:
    bits = np.zeros((56, 7), np.uint8)
    bits[np.arange(56), np.arange(56) // 8] = 1 << np.arange(56) % 8
    assert number_groups(np.vstack((bits, bits)), NO_MASKS).tolist() == [*range(56), *range(56)]


def test_another_mask_makes_another_group() -> None:
    bits = np.zeros((6, 7), np.uint8)
    bits[3:] = 1
    masks = np.ones((6, 145), np.bool_)
    masks[[1, 4], 144] = False
    assert number_groups(bits, masks).tolist() == [0, 1, 0, 2, 3, 2]


@pytest.mark.parametrize("kinds", [1, 7, 1000])
def test_samples_are_gathered_in_order(kinds: int) -> None:
    numbers = RANDOM.integers(0, kinds, 1000).astype(np.int32)
    rows = RANDOM.permutation(1000)[:400]
    groups = Groups(np.empty(400, np.int64), np.empty(400, np.int64), np.empty(401, np.int64))
    places = np.full(kinds, -1, np.int32)
    count = gather_groups(rows, numbers, places, groups)
    expected: dict[int, list[int]] = {}
    for i in rows.tolist():
        expected.setdefault(int(numbers[i]), []).append(i)
    borders = groups.borders[: count + 1]
    assert [part.tolist() for part in np.split(groups.members, borders[1:-1])] == [*expected.values()]
    assert (borders[0], borders[-1]) == (0, 400)
    assert groups.heads[:count].tolist() == [members[0] for members in expected.values()]
    assert (places == -1).all()


@pytest.mark.parametrize("actions", [spaces.Discrete(145), spaces.MultiDiscrete([5, 3])])
@pytest.mark.parametrize("masked", [False, True])
def test_environments_that_show_the_same_act_as_if_each_was_alone(actions: spaces.Space, masked: bool) -> None:
    policy = random_policy(spaces.MultiBinary(52), actions, hidden=(16,))
    network = CompiledNetwork(policy, 600, 2)
    seen = policy.observations.empty(600)
    shown = RANDOM.integers(0, 2, (20, 52), np.int8)[RANDOM.integers(0, 20, 600)]
    policy.observations.store(shown, seen)
    masks = RANDOM.random((3, policy.actions.outputs)) < 0.5
    masks[:, policy.actions.offsets[:-1]] = True
    masks = masks[RANDOM.integers(0, 3, 600)] if masked else NO_MASKS

    def act(envs: np.ndarray, streams: np.ndarray) -> tuple[np.ndarray, ...]:
        count = len(envs)
        found = (
            np.empty((count, *policy.actions.shape), np.int32),
            np.empty(count, np.float32),
            np.empty(count, np.float32),
        )
        allowed = masks[envs] if masked else masks
        network.act(seen[envs], np.zeros(count, np.bool_), allowed, streams, *found)
        return found

    streams = make_streams(1, 600)
    together = act(np.arange(600), streams)
    own = make_streams(1, 600)
    alone = [
        np.concatenate(parts) for parts in zip(*(act(np.array([i]), own[i : i + 1]) for i in range(600)), strict=True)
    ]
    network.close()
    np.testing.assert_array_equal(streams, own)
    np.testing.assert_array_equal(together[0], alone[0])
    for a, b in zip(together[1:], alone[1:], strict=True):
        np.testing.assert_allclose(a, b, atol=5e-6)
