"""The network: hidden layers, an optional GRU, one head of logits a choice, and a value.

All parameters are views of one flat tensor, `Policy.flat`: an optimiser steps it, a checkpoint stores it and an actor
in another process receives it in one copy.
"""

import math
from itertools import pairwise
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from garrison.learn.config import PolicyConfig
from garrison.learn.spaces import Actions, Observations

State = Tensor  # (towers, N, recurrent_size); 0 towers wide without a GRU


class Tower(nn.Module):
    """Hidden layers and an optional GRU."""

    def __init__(self, inputs: int, config: PolicyConfig) -> None:
        super().__init__()
        widths = (inputs, *config.hidden)
        self.layers = nn.ModuleList(_bare(nn.Linear, a, b) for a, b in pairwise(widths))
        self.activation = torch.tanh if config.activation == "tanh" else torch.relu
        self.gru: nn.GRU | None = _bare(nn.GRU, widths[-1], config.recurrent_size) if config.recurrent_size else None
        self.outputs = config.recurrent_size or widths[-1]

    def forward(self, x: Tensor, state: Tensor | None, starts: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return features and the next state; with a GRU, x is (T, N, inputs), state (N, size), starts (T, N)."""
        for layer in self.layers:
            x = self.activation(layer(x))
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


class Policy(nn.Module):
    """Maps network inputs to logits over every head and a value."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        config: PolicyConfig | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config = config or PolicyConfig()
        self.observations = Observations(observation_space)
        self.actions = Actions(action_space)
        self.actor = Tower(self.observations.size, self.config)
        self.critic = self.actor if self.config.trunk == "shared" else Tower(self.observations.size, self.config)
        self.action_head: nn.Linear = _bare(nn.Linear, self.actor.outputs, self.actions.size)
        self.value_head: nn.Linear = _bare(nn.Linear, self.critic.outputs, 1)
        self._initialise(torch.Generator().manual_seed(seed))
        self.flat = self._flatten(torch.device("cpu"))

    @property
    def is_recurrent(self) -> bool:
        """Whether the policy has memory."""
        return self.config.recurrent_size > 0

    def forward(
        self, inputs: Tensor, state: State | None = None, starts: Tensor | None = None
    ) -> tuple[Tensor, Tensor, State | None]:
        """Return logits, values and the next state.

        Args:
            inputs: (..., size); (T, N, size) when recurrent.
            state: (towers, N, recurrent_size) before the first step; only when recurrent.
            starts: (T, N), whether an episode starts at that step, so that its state is forgotten.
        """
        first = None if state is None else state[0]
        features, first = self.actor(inputs, first, starts)
        logits = self.action_head(features)
        if self.critic is self.actor:
            return logits, self.value_head(features).squeeze(-1), None if first is None else first.unsqueeze(0)
        second = None if state is None else state[1]
        features, second = self.critic(inputs, second, starts)
        values = self.value_head(features).squeeze(-1)
        return logits, values, None if first is None or second is None else torch.stack((first, second))

    def initial_state(self, num_envs: int) -> State:
        """Return the state in which an episode starts."""
        towers = 1 if self.critic is self.actor else 2
        return torch.zeros(towers, num_envs, self.config.recurrent_size, device=self.flat.device)

    def move(self, device: torch.device) -> "Policy":
        """Move the parameters to `device` and keep them flat."""
        self.to(device)
        self.flat = self._flatten(device)
        return self

    def _initialise(self, generator: torch.Generator) -> None:
        # The gains of PPO's original code: sqrt(2) in the body, near 0 for logits (a uniform start), 1 for the value.
        for name, parameter in self.named_parameters():
            with torch.no_grad():
                if parameter.dim() == 1:
                    parameter.zero_()
                elif "gru" in name:
                    for gate in parameter.chunk(3):
                        gate.copy_(_orthogonal(gate.shape, 1.0, generator))
                else:
                    gain = 0.01 if "action_head" in name else 1.0 if "value_head" in name else math.sqrt(2)
                    parameter.copy_(_orthogonal(parameter.shape, gain, generator))

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


def views(flat: Tensor, policy: nn.Module) -> list[Tensor]:
    """Return views of `flat` with the shapes of the policy's parameters, in their order."""
    pieces, begin = [], 0
    for parameter in policy.parameters():
        end = begin + parameter.numel()
        pieces.append(flat[begin:end].view(parameter.shape))
        begin = end
    return pieces


def _bare(layer: type[nn.Module], inputs: int, outputs: int) -> Any:
    # The weights are drawn later, from the policy's own generator, so that torch's global stream is left alone.
    return layer(inputs, outputs, device="meta").to_empty(device="cpu")


def _orthogonal(shape: torch.Size, gain: float, generator: torch.Generator) -> Tensor:
    rows, columns = shape
    normal = torch.randn(max(rows, columns), min(rows, columns), generator=generator)
    q, r = torch.linalg.qr(normal)
    q = q * torch.sign(torch.diagonal(r))
    result: Tensor = gain * (q if rows >= columns else q.T)
    return result
