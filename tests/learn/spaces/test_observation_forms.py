"""What every observation space becomes: stored and read back as the network should see it."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.spaces.composite_observations import CompositeForm
from garrison.learn.spaces.images import ImageForm
from garrison.learn.spaces.observations import NumbersForm
from garrison.learn.spaces.registry import doubts_about, observation_form

NESTED = spaces.Dict(
    camera=spaces.Box(0, 255, (5, 4, 3), np.uint8),
    flags=spaces.MultiBinary(11),
    gear=spaces.Discrete(3, start=1),
    speeds=spaces.Tuple((spaces.Box(-9, 9, (2, 2), np.float64), spaces.MultiDiscrete([2, 4], start=[5, 0]))),
)


def read(space: spaces.Space[Any], observations: list[Any], rows: list[int]) -> tuple[torch.Tensor, ...]:
    """Store a batch, then return the inputs of some rows; the NumPy and the torch way must agree."""
    form = observation_form(space)
    stored = form.empty(len(observations))
    form.store(form.batch(observations), stored)
    chosen = np.array(rows)
    flat = np.full((len(rows), *form.input_shape), np.nan, np.float32)
    form.inputs(stored, chosen, flat)
    tensors = form.tensors(stored, chosen, torch.device("cpu"))
    for ours, other in zip(tensors, form.split(torch.from_numpy(flat)), strict=True):
        torch.testing.assert_close(ours, other)
    return tensors


@pytest.mark.parametrize(
    ("shape", "input_shape", "axes"),
    [
        ((40, 50), (1, 40, 50), None),
        ((40, 50, 3), (3, 40, 50), (2, 0, 1)),
        ((3, 40, 50), (3, 40, 50), (0, 1, 2)),
        ((4, 84, 84), (4, 84, 84), (0, 1, 2)),
        ((7, 7, 3), (3, 7, 7), (2, 0, 1)),
        ((4, 40, 50, 3), (12, 40, 50), (0, 3, 1, 2)),
        ((4, 3, 40, 50), (12, 40, 50), (0, 1, 2, 3)),
    ],
)
def test_images_are_stored_as_bytes_and_read_channels_first(
    shape: tuple[int, ...], input_shape: tuple[int, ...], axes: tuple[int, ...] | None
) -> None:
    space = spaces.Box(0, 255, shape, np.uint8)
    form = observation_form(space)
    assert isinstance(form, ImageForm)
    assert (form.dtype, form.shape, form.input_shape) == (np.uint8, shape, input_shape)
    assert form.encoder == ("impala" if shape == (7, 7, 3) else "nature")
    images = [space.sample() for _ in range(3)]
    (seen,) = read(space, images, [2, 0])
    for k, i in enumerate((2, 0)):
        expected = images[i] if axes is None else images[i].transpose(axes)
        np.testing.assert_allclose(seen[k].numpy(), expected.reshape(input_shape) / 255, rtol=1e-6)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 255, (128,), np.uint8),  # a row of bytes, such as Atari's memory
        spaces.Box(0, 1, (8, 8, 3), np.float32),
        spaces.Box(0, 200, (8, 8, 3), np.uint8),
        spaces.Box(0, 255, (8, 8, 3), np.int32),
        spaces.Box(0, 255, (2, 2, 8, 8, 3), np.uint8),
        spaces.Box(-1, 1, (), np.float32),
    ],
    ids=str,
)
def test_what_is_no_image_is_numbers(space: spaces.Box) -> None:
    assert isinstance(observation_form(space), NumbersForm)
    samples = [space.sample() for _ in range(3)]
    (seen,) = read(space, samples, [0, 1, 2])
    np.testing.assert_allclose(seen.numpy(), np.stack(samples).reshape(3, -1), rtol=1e-6)


def test_each_index_of_a_multidiscrete_is_one_hot() -> None:
    (seen,) = read(spaces.MultiDiscrete([[3, 2]], start=[[1, 0]]), [np.array([[2, 1]]), np.array([[1, 0]])], [0, 1])
    assert seen.tolist() == [[0, 1, 0, 0, 1], [1, 0, 0, 1, 0]]


def test_a_dictionary_is_one_row_of_bytes_and_its_parts_come_back() -> None:
    form = observation_form(NESTED)
    assert isinstance(form, CompositeForm)
    assert form.dtype == np.uint8
    assert [type(leaf).__name__ for leaf in form.leaves] == [
        "ImageForm",
        "BitsForm",
        "IndexForm",
        "NumbersForm",
        "IndexForm",
    ]
    NESTED.seed(3)
    samples = [NESTED.sample() for _ in range(6)]
    inputs = read(NESTED, samples, [5, 1, 1])
    seen = form.structure(inputs)
    for k, i in enumerate((5, 1, 1)):
        one = samples[i]
        np.testing.assert_allclose(seen["camera"][k], one["camera"].transpose(2, 0, 1) / 255, rtol=1e-6)
        np.testing.assert_array_equal(seen["flags"][k], one["flags"])
        np.testing.assert_array_equal(seen["gear"][k], np.eye(3)[one["gear"] - 1])
        np.testing.assert_allclose(seen["speeds"][0][k], one["speeds"][0].reshape(-1), rtol=1e-6)
        first, second = one["speeds"][1] - np.array([5, 0])
        np.testing.assert_array_equal(seen["speeds"][1][k], [*np.eye(2)[first], *np.eye(4)[second]])
    assert form.input_space["speeds"][0].shape == (4,)  # type: ignore[index]


def test_spaces_that_cannot_be_learned_from_say_what_helps() -> None:
    for space in (
        spaces.Text(5),
        spaces.Dict(a=spaces.Sequence(spaces.Discrete(2))),
        spaces.Graph(spaces.Discrete(2), None),
    ):
        with pytest.raises(UserError, match="observations must be Box, Discrete") as error:
            observation_form(space)
        assert "TransformObservation" in (error.value.hint or "")


def test_numbers_up_to_255_and_images_without_convolutions_are_doubted() -> None:
    bytes_, image = spaces.Box(0, 255, (128,), np.uint8), spaces.Box(0, 255, (40, 40, 3), np.uint8)
    assert "normalise_observations" in str(doubts_about(bytes_, PolicyConfig()))
    assert "normalise_observations" in str(doubts_about(spaces.Dict(a=bytes_, b=image), PolicyConfig()))
    assert "4,800 plain numbers" in str(doubts_about(image, PolicyConfig(encoder="mlp")))
    for space in (image, NESTED, spaces.Box(0, 1, (3,)), spaces.Discrete(4)):
        assert doubts_about(space, PolicyConfig()) is None
    assert doubts_about(bytes_, PolicyConfig(normalise_observations=True)) is None
