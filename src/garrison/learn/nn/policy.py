"""The policy: an encoder, dense layers, an optional GRU, the outputs that describe a distribution, and a value.

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
from garrison.learn.nn.description import has_encoder, is_dense
from garrison.learn.nn.encoders import ObservationEncoder, make_encoder
from garrison.learn.nn.initial import bare, draw_gru_weights, draw_weights
from garrison.learn.nn.normaliser import Normaliser
from garrison.learn.nn.parameters import Place, find_places
from garrison.learn.rollout import Rollout
from garrison.learn.spaces.composite_observations import CompositeForm
from garrison.learn.spaces.observations import Inputs, ObservationForm
from garrison.learn.spaces.registry import action_distribution, observation_form

RecurrentState = Tensor  # (towers, N, recurrent_size); 0 wide without a GRU


class Tower(nn.Module):
    """Dense layers and an optional GRU behind an encoder, beside which there may be extra inputs."""

    def __init__(self, encoder: ObservationEncoder, config: PolicyConfig, extras: int = 0) -> None:
        super().__init__()
        self.encoder = encoder
        widths = (encoder.outputs + extras, *config.hidden)
        self.layers = nn.ModuleList(bare(nn.Linear, a, b) for a, b in pairwise(widths))
        self.activation = torch.tanh if config.activation == "tanh" else torch.relu
        size = config.recurrent_size
        self.gru: nn.GRU | None = bare(nn.GRU, widths[-1], size) if size else None
        self.outputs = size or widths[-1]

    def forward(self, x: Tensor, state: Tensor | None, starts: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return features (B, outputs) of encoded inputs (B, ...) and the next state.

        With a GRU, B = T * N samples are T steps of N environments; state is (N, size), starts (T, N).
        """
        for layer in self.layers:
            x = self.activation(layer(x))
        if self.gru is None:
            return x, state
        assert state is not None
        assert starts is not None
        x = x.view(*starts.shape, -1)
        # A state is forgotten only where an episode starts, so the GRU runs over whole stretches between starts.
        borders = [0, *(starts.any(dim=1).nonzero().flatten().tolist()), len(x)]
        pieces = []
        for begin, end in pairwise(borders):
            if begin < end:
                state = state * ~starts[begin].unsqueeze(1)
                piece, last = self.gru(x[begin:end], state.unsqueeze(0).contiguous())
                state = last[0]
                pieces.append(piece)
        return torch.cat(pieces).flatten(0, 1), state

    def draw_weights(self, generator: torch.Generator) -> None:
        """Draw the initial weights, but for the encoder's."""
        draw_weights(self.layers, math.sqrt(2), generator)
        if self.gru is not None:
            draw_gru_weights(self.gru, generator)


class Policy(nn.Module):
    """Maps network inputs to the outputs that describe a distribution over actions, and a value.

    With `extras_space`, what it is given is a pair of observation and extras, of which the actor reads the first.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        config: PolicyConfig | None = None,
        seed: int = 0,
        extras_space: spaces.Dict | None = None,
    ) -> None:
        super().__init__()
        self.config = config or PolicyConfig()
        self.seen = observation_form(observation_space)
        self.observations: ObservationForm = self.seen
        if extras_space is not None:
            self.observations = CompositeForm(spaces.Tuple((observation_space, extras_space)))
        self.actions = action_distribution(action_space, self.config)
        encoder = make_encoder(self.seen, self.config)
        self.actor = Tower(encoder, self.config)
        self.critic = self.actor
        if self.config.trunk != "shared":
            own = encoder if self.config.trunk == "encoder" else make_encoder(self.seen, self.config)
            self.critic = Tower(own, self.config, extras=self.observations.size - self.seen.size)
        free = self.actions.free_outputs
        self.action_head: nn.Linear = bare(nn.Linear, self.actor.outputs, self.actions.outputs - free)
        self.value_head: nn.Linear = bare(nn.Linear, self.critic.outputs, 1)
        self.free_outputs = nn.Parameter(torch.from_numpy(self.actions.initial_free_outputs())) if free else None
        self.normaliser = Normaliser(self.observations) if self.config.normalise_observations else None
        self._draw_weights(torch.Generator().manual_seed(seed))
        self.flat = self._flatten(torch.device("cpu"))

    @property
    def is_recurrent(self) -> bool:
        """Whether the policy has a GRU."""
        return self.config.recurrent_size > 0

    @property
    def is_dense(self) -> bool:
        """Whether the policy is dense layers on the inputs as they are, and nothing else."""
        return is_dense(self.seen, self.config)

    @property
    def has_encoder(self) -> bool:
        """Whether the policy sees something through convolutions or a module of the user's own."""
        return has_encoder(self.seen, self.config)

    def forward(
        self, inputs: Inputs, state: RecurrentState | None = None, starts: Tensor | None = None
    ) -> tuple[Tensor, Tensor, RecurrentState | None]:
        """Return the distributions' outputs (B, outputs), values (B,) and the next state.

        Args:
            inputs: a tensor (B, ...) per leaf of the observation, as the form's `tensors` makes them; when recurrent,
                B = T * N, for T steps of N environments.
            state: (towers, N, recurrent_size) before the first step; only when recurrent.
            starts: (T, N), whether an episode starts at that step, so that its state is forgotten.
        """
        inputs = self._scaled(inputs)
        count = len(self.seen.leaves)
        seen, extras = inputs[:count], [leaf.flatten(1) for leaf in inputs[count:]]
        outputs, features, first, encoded = self._decide(seen, state, starts)
        if self.critic is self.actor:
            return outputs, self.value_head(features).squeeze(-1), None if first is None else first.unsqueeze(0)
        if self.critic.encoder is not self.actor.encoder:
            encoded = self.critic.encoder(seen)
        second = None if state is None else state[1]
        features, second = self.critic(torch.cat((encoded, *extras), dim=1) if extras else encoded, second, starts)
        values = self.value_head(features).squeeze(-1)
        return outputs, values, None if first is None or second is None else torch.stack((first, second))

    def decide(
        self, inputs: Inputs, state: RecurrentState | None = None, starts: Tensor | None = None
    ) -> tuple[Tensor, RecurrentState | None]:
        """Return outputs and the next state as `forward` does, given what the actor sees; the critic is left out."""
        outputs, _, first, _ = self._decide(self._scaled(inputs), state, starts)
        return outputs, None if state is None or first is None else torch.stack((first, *state[1:]))

    def _decide(
        self, inputs: Inputs, state: RecurrentState | None, starts: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """Return the distributions' outputs, the actor's features, its next state, and its encoded inputs."""
        encoded = self.actor.encoder(inputs)
        features, next_state = self.actor(encoded, None if state is None else state[0], starts)
        outputs = self.action_head(features)
        if self.free_outputs is not None:
            outputs = torch.cat((outputs, self.free_outputs.expand(len(outputs), -1)), dim=1)
        return outputs, features, next_state, encoded

    def _scaled(self, inputs: Inputs) -> Inputs:
        scaled: Inputs = inputs if self.normaliser is None else self.normaliser(inputs)
        return scaled

    def initial_state(self, num_envs: int) -> RecurrentState:
        """Return the recurrent state in which an episode starts."""
        towers = 1 if self.critic is self.actor else 2
        return torch.zeros(towers, num_envs, self.config.recurrent_size, device=self.flat.device)

    def observe(self, rollout: Rollout) -> None:
        """Take a rollout that has been learned from into the statistics of observations, if the policy has any."""
        if self.normaliser is not None:
            counted = rollout.counted.reshape(-1)
            self.normaliser.update(rollout.flat_observations()[: len(counted)][counted])

    def statistics(self) -> slice:
        """Return where the statistics of observations lie in `flat`: at its end, if there are any."""
        size = 0 if self.normaliser is None else sum(p.numel() for p in self.normaliser.parameters())
        return slice(len(self.flat) - size, len(self.flat))

    def places(self) -> dict[str, Place]:
        """Return where each parameter lies in `flat`."""
        return find_places((name, tuple(parameter.shape)) for name, parameter in self.named_parameters())

    def move(self, device: torch.device) -> "Policy":
        """Move the parameters to `device` and keep them flat."""
        self.to(device)
        self.flat = self._flatten(device)
        return self

    def _draw_weights(self, generator: torch.Generator) -> None:
        for tower in dict.fromkeys((self.actor, self.critic)):
            if tower is self.actor or tower.encoder is not self.actor.encoder:
                tower.encoder.draw_weights(generator)
            tower.draw_weights(generator)
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
