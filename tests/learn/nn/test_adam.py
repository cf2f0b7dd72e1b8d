"""Adam against torch's own."""

import pytest
import torch

from garrison.learn.nn.adam import Adam


@pytest.mark.parametrize("max_norm", [0.0, 0.5, 1e9])
def test_steps_equal_torch(max_norm: float) -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(1000, generator=generator)
    theirs = torch.nn.Parameter(start.clone())
    optimiser = torch.optim.Adam([theirs], lr=1e-3, eps=1e-5)
    ours = Adam(start.clone(), epsilon=1e-5)
    for _ in range(50):
        gradient = torch.randn(1000, generator=generator)
        theirs.grad = gradient.clone()
        expected = float(torch.nn.utils.clip_grad_norm_([theirs], max_norm or 1e12))
        optimiser.step()
        assert ours.step(gradient, 1e-3, max_norm) == pytest.approx(expected, rel=1e-5)
    torch.testing.assert_close(ours.flat, theirs.detach(), rtol=1e-5, atol=1e-6)


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    adam = Adam(torch.ones(3))
    assert adam.step(torch.tensor([1.0, float("nan"), 1.0]), 1e-3) != adam.step(torch.zeros(3), 1e-3)
    assert adam.steps == 1
    assert torch.equal(adam.flat, torch.ones(3))


def test_a_restored_state_continues_bit_for_bit() -> None:
    gradients = torch.randn(10, 100, generator=torch.Generator().manual_seed(1))
    first = Adam(torch.ones(100))
    for gradient in gradients[:5]:
        first.step(gradient, 1e-2)
    second = Adam(first.flat.clone())
    second.restore(first.state())
    for gradient in gradients[5:]:
        first.step(gradient, 1e-2)
        second.step(gradient, 1e-2)
    assert torch.equal(first.flat, second.flat)
