"""Running means and deviations of observations, so that a network sees numbers around 0 of size 1.

They are part of `Policy.flat`, as parameters that no gradient moves: whoever is given the weights, such as an actor, a
checkpoint or an evaluation, has the statistics that belong to them. They change between updates only, so a rollout is
learned from as it was seen.
"""

import numpy as np
import torch
from torch import nn

from garrison.learn.spaces.observations import Array, Inputs, ObservationForm

LIMIT = 10.0
"""Deviations beyond which a normalised number is cut off."""
SMALLEST_VARIANCE = 1e-8
CHUNK = 4096


class Normaliser(nn.Module):
    """Scales the leaves of an observation that are plain numbers; images, bits and one-hot rows pass unchanged."""

    def __init__(self, form: ObservationForm) -> None:
        super().__init__()
        self._form = form
        self._leaves = [number for number, leaf in enumerate(form.leaves) if leaf.is_measured]
        sizes = [form.leaves[number].size for number in self._leaves]
        self.means = nn.ParameterList(nn.Parameter(torch.zeros(size), requires_grad=False) for size in sizes)
        self.variances = nn.ParameterList(nn.Parameter(torch.ones(size), requires_grad=False) for size in sizes)
        self.count = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, inputs: Inputs) -> Inputs:
        """Return the inputs, of all leaves or the first few, with mean 0 and deviation 1, as far as is known."""
        scaled = list(inputs)
        for number, mean, variance in zip(self._leaves, self.means, self.variances, strict=True):
            if number >= len(inputs):
                break
            centred = inputs[number] - mean
            scaled[number] = (centred * (variance + SMALLEST_VARIANCE).rsqrt()).clamp(-LIMIT, LIMIT)
        return tuple(scaled)

    @torch.no_grad()
    def update(self, stored: Array) -> None:
        """Take in observations, (n, *stored), of the rollout that has just been learned from."""
        before, added = float(self.count), len(stored)
        if not added:
            return
        device = self.count.device
        sums = [torch.zeros(2, mean.numel(), dtype=torch.float64) for mean in self.means]
        for begin in range(0, added, CHUNK):
            rows = np.arange(begin, min(begin + CHUNK, added))
            inputs = self._form.tensors(stored, rows, torch.device("cpu"))
            for total, number, mean in zip(sums, self._leaves, self.means, strict=True):
                centred = inputs[number].double() - mean.cpu()  # near 0, so that the squares keep their digits
                total += torch.stack((centred.sum(0), (centred**2).sum(0)))
        share = added / (before + added)
        for total, mean, variance in zip(sums, self.means, self.variances, strict=True):
            shift, square = (total / added).to(device)
            mean_of_squares = (1 - share) * variance.double() + share * square
            mean.add_((share * shift).float())
            variance.copy_((mean_of_squares - (share * shift) ** 2).clamp_min(0.0).float())
        self.count.fill_(before + added)
