"""Adam over one flat vector of parameters: one compiled pass instead of a dozen calls per tensor."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from garrison.jit import kernel, plain


class Adam:
    """Kingma and Ba's optimiser (2015), bias-corrected, as `torch.optim.Adam` without weight decay."""

    def __init__(self, flat: Tensor, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-5) -> None:
        self.flat = flat
        self.first = torch.zeros_like(flat)
        self.second = torch.zeros_like(flat)
        self.steps = 0
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def step(self, gradient: Tensor, learning_rate: float, max_norm: float = 0.0) -> float:
        """Move the parameters against `gradient`, shortened to `max_norm` if longer; return its length before.

        A gradient that is not finite changes nothing.
        """
        norm = float(torch.linalg.vector_norm(gradient))
        if not np.isfinite(norm):
            return norm
        scale = plain(shortening)(norm, max_norm)
        rate, root = self.rate_and_root(learning_rate, 1)
        self.steps += 1
        if self.flat.device.type == "cpu":
            numbers = Numbers(*(np.float32(x) for x in (scale, rate, root, self.beta1, self.beta2, self.epsilon)))
            move(self.flat.numpy(), gradient.numpy(), self.first.numpy(), self.second.numpy(), numbers)
        else:
            gradient = gradient * scale
            self.first.lerp_(gradient, 1.0 - self.beta1)
            self.second.mul_(self.beta2).addcmul_(gradient, gradient, value=1.0 - self.beta2)
            self.flat.addcdiv_(self.first, self.second.sqrt().mul_(root).add_(self.epsilon), value=-rate)
        return norm

    def rate_and_root(self, learning_rate: float, steps: int) -> tuple[float, float]:
        """Return the corrected rate and the correction of the second moments' root, some steps from now."""
        steps += self.steps
        return learning_rate / (1.0 - self.beta1**steps), float(1.0 / np.sqrt(1.0 - self.beta2**steps))

    def state(self) -> dict[str, Any]:
        """Return copies of everything a later step depends on."""
        return {"first": self.first.clone(), "second": self.second.clone(), "steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])
        self.steps = int(state["steps"])


class Numbers(NamedTuple):
    """What a step multiplies by."""

    scale: np.float32
    rate: np.float32
    root: np.float32
    beta1: np.float32
    beta2: np.float32
    epsilon: np.float32


@kernel
def shortening(norm: float, max_norm: float) -> float:
    """Return the factor that shortens a gradient to `max_norm`; 0 means no limit."""
    return max_norm / (norm + 1e-6) if max_norm > 0.0 and norm > max_norm else 1.0


@kernel(cached=True, fastmath=True)
def move(flat: Any, gradient: Any, first: Any, second: Any, numbers: Numbers) -> None:
    """Move parameters by one step, and their moments."""
    scale, rate, root, beta1, beta2, epsilon = numbers
    one = np.float32(1.0)
    for j in range(flat.shape[0]):
        g = gradient[j] * scale
        first[j] = beta1 * first[j] + (one - beta1) * g
        second[j] = beta2 * second[j] + (one - beta2) * g * g
        flat[j] -= rate * first[j] / (np.sqrt(second[j]) * root + epsilon)
