"""The network: initialisation, flat parameters, and memory that is forgotten where episodes start."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.parameters import find_places, mlp_shapes
from garrison.learn.nn.policy import Policy

BITS, CHOICES = spaces.Box(0, 1, (52,), np.int8), spaces.Discrete(145)


def test_it_starts_nearly_uniform_and_orthogonal() -> None:
    policy = Policy(BITS, CHOICES)
    logits, values, _ = policy((torch.ones(3, 52),))
    assert logits.shape == (3, 145)
    assert values.shape == (3,)
    assert float(logits.detach().abs().max()) < 0.1
    weight = policy.actor.layers[1].weight
    torch.testing.assert_close((weight @ weight.T).detach(), 2 * torch.eye(64), rtol=0, atol=1e-4)


def test_seeds_decide_the_weights_and_leave_the_global_stream_alone() -> None:
    before = torch.get_rng_state()
    first, again, other = (Policy(BITS, CHOICES, seed=seed).flat for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_flat_vector_is_the_parameters() -> None:
    policy = Policy(BITS, CHOICES, PolicyConfig(trunk="shared"))
    assert len(policy.flat) == sum(p.numel() for p in policy.parameters())
    policy.flat.zero_()
    assert all(not p.any() for p in policy.parameters())
    policy.move(torch.device("cpu"))
    policy.flat.fill_(1.0)
    assert all(p.eq(1).all() for p in policy.parameters())


@pytest.mark.parametrize("trunk", ["shared", "separate"])
def test_a_sequence_equals_single_steps_and_forgets_at_starts(trunk: str) -> None:
    policy = Policy(BITS, CHOICES, PolicyConfig(recurrent_size=16, trunk=trunk), seed=3)
    policy.flat.add_(0.1 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(0)))
    inputs = torch.randn(9, 4, 52, generator=torch.Generator().manual_seed(1))
    starts = torch.zeros(9, 4, dtype=torch.bool)
    starts[0, 1] = starts[4, 2] = starts[4, 3] = starts[8, 0] = True
    state = torch.randn(policy.initial_state(4).shape, generator=torch.Generator().manual_seed(2))
    logits, values, last = policy((inputs.flatten(0, 1),), state, starts)
    logits, values = logits.view(9, 4, -1), values.view(9, 4)
    step_state = state
    no_starts = torch.zeros(1, 4, dtype=torch.bool)
    for t in range(9):
        step_state = step_state * ~starts[t][None, :, None]
        step_logits, step_values, step_state = policy((inputs[t],), step_state, no_starts)
        torch.testing.assert_close(logits[t], step_logits)
        torch.testing.assert_close(values[t], step_values)
    torch.testing.assert_close(last, step_state)

    fresh, _, _ = policy((inputs[4:, 2],), policy.initial_state(1), starts[4:, 2:3])
    torch.testing.assert_close(logits[4:, 2], fresh)


@pytest.mark.parametrize("trunk", ["shared", "separate"])
@pytest.mark.parametrize("hidden", [(), (8,), (24, 16)])
def test_the_layout_without_torch_is_the_policys(trunk: str, hidden: tuple[int, ...]) -> None:
    policy = Policy(BITS, CHOICES, PolicyConfig(trunk=trunk, hidden=hidden))
    assert find_places(mlp_shapes(52, hidden, 145, trunk == "shared")) == policy.places()
    for parameter, place in zip(policy.parameters(), policy.places().values(), strict=True):
        assert torch.equal(policy.flat[place.begin : place.end], parameter.detach().flatten())
