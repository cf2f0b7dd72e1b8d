"""The networks in front of the dense layers: shapes, sharing, seeds, users' own."""

import math
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.encoders import ENCODERS
from garrison.learn.nn.initial import draw_weights
from garrison.learn.nn.policy import Policy

IMAGE = spaces.Box(0, 255, (64, 48, 3), np.uint8)
BOTH = spaces.Dict(image=IMAGE, speed=spaces.Box(-1, 1, (2,), np.float32))
CHOICES = spaces.Discrete(4)


def inputs_of(policy: Policy, count: int = 3) -> tuple[torch.Tensor, ...]:
    form = policy.observations
    form.space.seed(0)
    stored = form.empty(count)
    form.store(form.batch([form.space.sample() for _ in range(count)]), stored)
    return form.tensors(stored, np.arange(count), torch.device("cpu"))


class Pooled(nn.Module):
    """A user's encoder for images: the mean of each channel."""

    def __init__(self, space: spaces.Box) -> None:
        super().__init__()
        self.layer = nn.Linear(space.shape[0], 5)
        self.outputs = 5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.layer(x.mean(dim=(2, 3)))
        return features


class OfADict(nn.Module):
    """A user's encoder for a dictionary."""

    def __init__(self, space: spaces.Dict) -> None:
        super().__init__()
        self.layer = nn.Linear(space["image"].shape[0] + space["speed"].shape[0], 6)
        self.outputs = 6

    def forward(self, x: dict[str, torch.Tensor]) -> torch.Tensor:
        features: torch.Tensor = self.layer(torch.cat((x["image"].mean(dim=(2, 3)), x["speed"]), dim=1))
        return features


class WithBuffers(Pooled):
    def __init__(self, space: Any) -> None:
        super().__init__(space)
        self.normal = nn.BatchNorm1d(5)


class WithoutWidth(nn.Module):
    def __init__(self, space: Any) -> None:
        super().__init__()


class LyingAboutWidth(Pooled):
    def __init__(self, space: Any) -> None:
        super().__init__(space)
        self.outputs = 7


def named(kind: type) -> str:
    return f"{__name__}:{kind.__name__}"


@pytest.mark.parametrize(("name", "features"), [("nature", 64 * 4 * 2), ("impala", 32 * 8 * 6), ("mlp", 3 * 64 * 48)])
def test_an_encoder_has_as_many_features_as_it_says(name: str, features: int) -> None:
    policy = Policy(IMAGE, CHOICES, PolicyConfig(encoder=name, hidden=(16,)))
    assert policy.actor.encoder.outputs == features
    assert policy.actor.encoder(inputs_of(policy)).shape == (3, features)


@pytest.mark.parametrize("side", [1, 2, 7, 35])
def test_impala_reads_images_of_any_size(side: int) -> None:
    encoder = ENCODERS["impala"](spaces.Box(0, 1, (2, side, side + 1)))
    assert encoder(torch.ones(1, 2, side, side + 1)).shape == (1, encoder.outputs)


def test_nature_says_which_images_are_too_small() -> None:
    Policy(spaces.Box(0, 255, (36, 36, 3), np.uint8), CHOICES, PolicyConfig(encoder="nature"))
    with pytest.raises(UserError, match=r"35x36 are too small for the encoder 'nature'.*use 'impala'"):
        Policy(spaces.Box(0, 255, (35, 36, 3), np.uint8), CHOICES, PolicyConfig(encoder="nature"))


def test_each_leaf_of_a_dictionary_has_its_encoder_and_numbers_pass() -> None:
    policy = Policy(BOTH, CHOICES, PolicyConfig(hidden=(8,)))
    inputs = inputs_of(policy)
    encoded = policy.actor.encoder(inputs)
    assert encoded.shape == (3, 64 * 4 * 2 + 2)
    torch.testing.assert_close(encoded[:, -2:], inputs[1])


@pytest.mark.parametrize("name", ["nature", "impala"])
def test_weights_are_orthogonal_and_drawn_from_the_seed_alone(name: str) -> None:
    before = torch.get_rng_state()
    config = PolicyConfig(encoder=name, hidden=(16,), trunk="encoder")
    first, same, other = (Policy(IMAGE, CHOICES, config, seed) for seed in (1, 1, 2))
    assert torch.equal(first.flat, same.flat)
    assert not torch.equal(first.flat, other.flat)
    assert torch.equal(torch.get_rng_state(), before)
    for parameter in first.actor.encoder.parameters():
        if parameter.dim() == 1:
            assert not parameter.any()
        else:
            rows = parameter.detach().flatten(1)
            rows = rows if len(rows) <= rows.shape[1] else rows.T
            products = rows @ rows.T
            scale = float(products[0, 0])  # the residual blocks of `impala` are drawn smaller
            assert scale == pytest.approx(2.0, rel=1e-4) or (
                name == "impala" and scale == pytest.approx(2 / 6, rel=1e-4)
            )
            torch.testing.assert_close(products, scale * torch.eye(len(rows)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["nature", "impala"])
@pytest.mark.parametrize("space", [IMAGE, BOTH, spaces.Tuple((IMAGE, IMAGE))], ids=["image", "dict", "tuple"])
def test_weights_are_drawn_as_those_of_earlier_versions_bit_by_bit(space: spaces.Space[Any], name: str) -> None:
    """A seed keeps its meaning: all weights in their order, then the residual blocks of `impala` made smaller."""
    policy = Policy(space, CHOICES, PolicyConfig(encoder=name, hidden=(4,)), seed=5)
    drawn, generator = policy.actor.encoder, torch.Generator().manual_seed(5)
    expected = deepcopy(drawn)
    draw_weights(expected, math.sqrt(2), generator)
    for (place, parameter), other in zip(drawn.named_parameters(), expected.parameters(), strict=True):
        scale = math.sqrt(6) if place.endswith("second.weight") else 1.0
        assert torch.equal(parameter, other / scale)


def test_the_features_of_a_fresh_network_have_the_size_of_its_inputs() -> None:
    """Else the dense layers behind it start saturated and hardly learn."""
    images = torch.rand(64, 3, 64, 48, generator=torch.Generator().manual_seed(0))
    for name in ("nature", "impala"):
        policy = Policy(IMAGE, CHOICES, PolicyConfig(encoder=name, hidden=(16,)), seed=1)
        features = policy.actor.encoder((images,))
        assert 0.3 < float(features.detach().square().mean().sqrt()) < 3.0


def test_what_actor_and_critic_share() -> None:
    sizes = {}
    for trunk in ("separate", "encoder", "shared"):
        policy = Policy(IMAGE, CHOICES, PolicyConfig(trunk=trunk, hidden=(16,)))
        sizes[trunk] = len(policy.flat)
        outputs, values, _ = policy(inputs_of(policy))
        assert (outputs.shape, values.shape) == ((3, 4), (3,))
        values.sum().backward()  # type: ignore[no-untyped-call]
        touched = any(p.grad is not None and p.grad.any() for p in policy.actor.encoder.parameters())
        assert touched == (trunk != "separate")
    encoder = sum(p.numel() for p in policy.actor.encoder.parameters())
    dense = sum(p.numel() for p in policy.actor.layers.parameters())
    heads = sizes["shared"] - encoder - dense
    assert sizes["separate"] == 2 * encoder + 2 * dense + heads
    assert sizes["encoder"] == encoder + 2 * dense + heads


@pytest.mark.parametrize("kind", [Pooled, OfADict])
@pytest.mark.parametrize("recurrent_size", [0, 3])
def test_a_users_encoder_is_found_made_and_seeded(kind: type, recurrent_size: int) -> None:
    space = BOTH if kind is OfADict else IMAGE
    config = PolicyConfig(encoder=named(kind), hidden=(), recurrent_size=recurrent_size)
    before = torch.get_rng_state()
    policy, same, other = (Policy(space, CHOICES, config, seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(policy.flat, same.flat)
    assert not torch.equal(policy.actor.encoder.module.layer.weight, other.actor.encoder.module.layer.weight)  # type: ignore[union-attr]
    assert policy.actor.encoder.outputs == {Pooled: 5, OfADict: 6}[kind]
    starts = torch.zeros(1, 3, dtype=torch.bool)
    state = policy.initial_state(3) if recurrent_size else None
    outputs, values, _ = policy(inputs_of(policy), state, starts if recurrent_size else None)
    assert (outputs.shape, values.shape) == ((3, 4), (3,))
    assert PolicyConfig(encoder=kind).encoder == named(kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (named(WithBuffers), "keeps buffers, such as those of BatchNorm"),
        (named(WithoutWidth), "needs an attribute outputs"),
        ("no_such_module:X", "begins with a module that cannot be imported"),
        (f"{__name__}:Missing", "there is no 'Missing'"),
        (f"{__name__}:named", "is not a class of torch.nn.Module"),
        ("torch.nn:Linear", "could not be made with the space of its inputs"),
    ],
)
def test_what_is_wrong_with_a_users_encoder_is_said(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Policy(IMAGE, CHOICES, PolicyConfig(encoder=name))


def test_an_encoder_that_returns_another_width_is_caught() -> None:
    policy = Policy(IMAGE, CHOICES, PolicyConfig(encoder=named(LyingAboutWidth), hidden=(4,)))
    with pytest.raises(UserError, match=r"returned a tensor of shape \(3, 5\).*its outputs say \(3, 7\)"):
        policy(inputs_of(policy))


def test_unknown_names_of_encoders_are_refused() -> None:
    with pytest.raises(UserError, match="encoder"):
        PolicyConfig(encoder="resnet")
