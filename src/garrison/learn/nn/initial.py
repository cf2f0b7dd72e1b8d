"""Initial weights, drawn from a generator of the policy's own, so that torch's global stream is left alone."""

from typing import Any

import torch
from torch import Tensor, nn


def bare(layer: type[nn.Module], inputs: int, outputs: int) -> Any:
    """Return a layer whose weights are not drawn yet."""
    return layer(inputs, outputs, device="meta").to_empty(device="cpu")


@torch.no_grad()
def draw_weights(module: nn.Module, gain: float, generator: torch.Generator) -> None:
    """Give a module orthogonal weights of this gain and biases of 0."""
    for parameter in module.parameters():
        if parameter.dim() == 1:
            parameter.zero_()
        else:
            matrix = parameter.flatten(1)
            parameter.copy_(_orthogonal(len(matrix), matrix.shape[1], gain, generator).view_as(parameter))


@torch.no_grad()
def draw_gru_weights(gru: nn.GRU, generator: torch.Generator) -> None:
    """Give each gate of a GRU orthogonal weights and biases of 0."""
    for parameter in gru.parameters():
        if parameter.dim() == 1:
            parameter.zero_()
        else:
            for gate in parameter.chunk(3):
                gate.copy_(_orthogonal(len(gate), gate.shape[1], 1.0, generator))


def _orthogonal(rows: int, columns: int, gain: float, generator: torch.Generator) -> Tensor:
    normal = torch.randn(max(rows, columns), min(rows, columns), generator=generator)
    q, r = torch.linalg.qr(normal)
    q = q * torch.sign(torch.diagonal(r))
    result: Tensor = gain * (q if rows >= columns else q.T)
    return result.contiguous()
