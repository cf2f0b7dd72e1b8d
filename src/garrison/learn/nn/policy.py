"""The policy: an encoder, an optional GRU, the outputs that describe a distribution over actions, and a value.

All parameters are views of one flat tensor, `Policy.flat`: an optimiser steps it, a checkpoint stores it and an actor
in another process receives it in one copy.
"""

from itertools import pairwise
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.encoders import make_encoder
from garrison.learn.nn.initial import bare, draw_gru_weights, draw_weights
from garrison.learn.nn.parameters import Place, find_places
from garrison.learn.spaces.observations import ObservationForm
from garrison.learn.spaces.registry import action_distribution, observation_form

RecurrentState = Tensor  # (towers, N, recurrent_size); 0 wide without a GRU


class Tower(nn.Module):
    """An encoder and an optional GRU."""

    def __init__(self, form: ObservationForm, config: PolicyConfig) -> None:
        super().__init__()
        self.encoder = make_encoder(form, config)
        size = config.recurrent_size
        self.gru: nn.GRU | None = bare(nn.GRU, self.encoder.outputs, size) if size else None
        self.outputs = size or self.encoder.outputs

    def forward(self, x: Tensor, state: Tensor | None, starts: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return features and the next state; with a GRU, x is (T, N, ...), state (N, size), starts (T, N)."""
        x = self.encoder(x)
        if self.gru is None:
            return x, state
        assert state is not None
        assert starts is not None
        # A state is forgotten only where an episode starts, so the GRU runs over whole stretches between starts.
        borders = [0, *(starts.any(dim=1).nonzero().flatten().tolist()), len(x)]
        pieces = []
        for begin, end in pairwise(borders):
            if begin < end:
                state = state * ~starts[begin].unsqueeze(1)
                piece, last = self.gru(x[begin:end], state.unsqueeze(0).contiguous())
                state = last[0]
                pieces.append(piece)
        return torch.cat(pieces), state

    def draw_weights(self, generator: torch.Generator) -> None:
        """Draw the initial weights."""
        self.encoder.draw_weights(generator)
        if self.gru is not None:
            draw_gru_weights(self.gru, generator)


class Policy(nn.Module):
    """Maps network inputs to the outputs that describe a distribution over actions, and a value."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        config: PolicyConfig | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config = config or PolicyConfig()
        self.observations = observation_form(observation_space)
        self.actions = action_distribution(action_space, self.config)
        self.actor = Tower(self.observations, self.config)
        self.critic = self.actor if self.config.trunk == "shared" else Tower(self.observations, self.config)
        free = self.actions.free_outputs
        self.action_head: nn.Linear = bare(nn.Linear, self.actor.outputs, self.actions.outputs - free)
        self.value_head: nn.Linear = bare(nn.Linear, self.critic.outputs, 1)
        self.free_outputs = nn.Parameter(torch.from_numpy(self.actions.initial_free_outputs())) if free else None
        self._draw_weights(torch.Generator().manual_seed(seed))
        self.flat = self._flatten(torch.device("cpu"))

    @property
    def is_recurrent(self) -> bool:
        """Whether the policy has a GRU."""
        return self.config.recurrent_size > 0

    def forward(
        self, inputs: Tensor, state: RecurrentState | None = None, starts: Tensor | None = None
    ) -> tuple[Tensor, Tensor, RecurrentState | None]:
        """Return the distributions' outputs, values and the next state.

        Args:
            inputs: (..., *input_shape); (T, N, *input_shape) when recurrent.
            state: (towers, N, recurrent_size) before the first step; only when recurrent.
            starts: (T, N), whether an episode starts at that step, so that its state is forgotten.
        """
        first = None if state is None else state[0]
        features, first = self.actor(inputs, first, starts)
        outputs = self.action_head(features)
        if self.free_outputs is not None:
            outputs = torch.cat((outputs, self.free_outputs.expand(*outputs.shape[:-1], -1)), dim=-1)
        if self.critic is self.actor:
            return outputs, self.value_head(features).squeeze(-1), None if first is None else first.unsqueeze(0)
        second = None if state is None else state[1]
        features, second = self.critic(inputs, second, starts)
        values = self.value_head(features).squeeze(-1)
        return outputs, values, None if first is None or second is None else torch.stack((first, second))

    def initial_state(self, num_envs: int) -> RecurrentState:
        """Return the recurrent state in which an episode starts."""
        towers = 1 if self.critic is self.actor else 2
        return torch.zeros(towers, num_envs, self.config.recurrent_size, device=self.flat.device)

    def places(self) -> dict[str, Place]:
        """Return where each parameter lies in `flat`."""
        return find_places((name, tuple(parameter.shape)) for name, parameter in self.named_parameters())

    def move(self, device: torch.device) -> "Policy":
        """Move the parameters to `device` and keep them flat."""
        self.to(device)
        self.flat = self._flatten(device)
        return self

    def _draw_weights(self, generator: torch.Generator) -> None:
        self.actor.draw_weights(generator)
        if self.critic is not self.actor:
            self.critic.draw_weights(generator)
        draw_weights(self.action_head, 0.01, generator)  # near 0: a policy starts nearly uniform
        draw_weights(self.value_head, 1.0, generator)

    def _flatten(self, device: torch.device) -> Tensor:
        flat = torch.empty(sum(p.numel() for p in self.parameters()), device=device)
        for parameter, view in zip(self.parameters(), views(flat, self), strict=True):
            view.copy_(parameter.data)
            parameter.data = view
        if device.type == "cuda":
            for module in self.modules():
                if isinstance(module, nn.GRU):
                    module.flatten_parameters()
        return flat


def views(flat: Tensor, policy: Policy) -> list[Tensor]:
    """Return views of `flat` with the shapes of the policy's parameters, in their order."""
    return [flat[place.begin : place.end].view(place.shape) for place in policy.places().values()]
