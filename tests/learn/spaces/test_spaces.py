"""Observations survive storage; head indices become actions of the space."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn.spaces.registry import action_distribution, observation_form

SPACES = [
    (spaces.Box(0, 1, (52,), np.int8), np.uint8, 7),
    (spaces.Box(0, 1, (77,), np.uint8), np.uint8, 10),
    (spaces.MultiBinary(16), np.uint8, 2),
    (spaces.Box(-3, 9, (5,), np.int8), np.int8, 5),
    (spaces.Box(0, 254, (4, 3), np.uint8), np.uint8, 12),
    (spaces.Box(-1.0, 1.0, (3,), np.float64), np.float32, 3),
]


@pytest.mark.parametrize(("space", "dtype", "width"), SPACES)
def test_inputs_equal_what_was_stored(space: spaces.Space[Any], dtype: type, width: int) -> None:
    observations = observation_form(space)
    space.seed(0)
    shown = np.stack([space.sample() for _ in range(50)])
    stored = np.empty((50, *observations.shape), observations.dtype)
    observations.store(shown, stored)
    assert stored.dtype == dtype
    assert stored.shape == (50, width)
    rows = np.array([3, 49, 3, 0])
    inputs = np.full((4, observations.size), np.nan, np.float32)
    observations.inputs(stored, rows, inputs)
    np.testing.assert_array_equal(inputs, shown.reshape(50, -1)[rows].astype(np.float32))


def test_a_discrete_observation_becomes_one_hot() -> None:
    observations = observation_form(spaces.Discrete(4, start=2))
    stored = np.empty((2, 1), observations.dtype)
    observations.store(np.array([2, 5]), stored)
    inputs = np.empty((2, 4), np.float32)
    observations.inputs(stored, np.array([1, 0]), inputs)
    assert inputs.tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]


def test_actions_lie_in_their_space() -> None:
    grid = spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 0], [0, 7]]))
    actions = action_distribution(grid)
    assert actions.sizes == (2, 3, 4, 5)
    assert actions.to_env(np.array([[1, 2, 3, 4]])).tolist() == [[[2, 2], [3, 11]]]
    assert grid.contains(actions.to_env(np.array([[1, 2, 3, 4]]))[0])
    single = action_distribution(spaces.Discrete(3, start=-1))
    assert single.to_env(np.array([[0], [2]], np.int32)).tolist() == [-1, 1]


def test_other_spaces_are_refused_by_name() -> None:
    with pytest.raises(UserError, match="observations must be Box"):
        observation_form(spaces.Text(3))
