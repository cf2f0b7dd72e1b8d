"""Adam over one flat vector of parameters: one compiled pass instead of a dozen calls per tensor."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from garrison.jit import kernel


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
        self.steps += 1
        scale = max_norm / (norm + 1e-6) if max_norm and norm > max_norm else 1.0
        rate = learning_rate / (1.0 - self.beta1**self.steps)
        root = 1.0 / np.sqrt(1.0 - self.beta2**self.steps)
        if self.flat.device.type == "cpu":
            numbers = _Numbers(*(np.float32(x) for x in (scale, rate, root, self.beta1, self.beta2, self.epsilon)))
            _adam(self.flat.numpy(), gradient.numpy(), self.first.numpy(), self.second.numpy(), numbers)
        else:
            gradient = gradient * scale
            self.first.lerp_(gradient, 1.0 - self.beta1)
            self.second.mul_(self.beta2).addcmul_(gradient, gradient, value=1.0 - self.beta2)
            self.flat.addcdiv_(self.first, self.second.sqrt().mul_(root).add_(self.epsilon), value=-rate)
        return norm

    def state(self) -> dict[str, Any]:
        """Return copies of everything a later step depends on."""
        return {"first": self.first.clone(), "second": self.second.clone(), "steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])
        self.steps = int(state["steps"])


class _Numbers(NamedTuple):
    scale: np.float32
    rate: np.float32
    root: np.float32
    beta1: np.float32
    beta2: np.float32
    epsilon: np.float32


@kernel(cached=True, fastmath=True)
def _adam(flat: Any, gradient: Any, first: Any, second: Any, numbers: _Numbers) -> None:
    scale, rate, root, beta1, beta2, epsilon = numbers
    one = np.float32(1.0)
    for j in range(flat.shape[0]):
        g = gradient[j] * scale
        first[j] = beta1 * first[j] + (one - beta1) * g
        second[j] = beta2 * second[j] + (one - beta2) * g * g
        flat[j] -= rate * first[j] / (np.sqrt(second[j]) * root + epsilon)
