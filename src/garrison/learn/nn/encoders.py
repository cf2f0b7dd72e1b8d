"""Networks in front of the dense layers, by name, and how they read an observation.

An encoder is a `torch.nn.Module` with an attribute `outputs`, its number of features. It is made with the space of what
it will be given (`ObservationForm.input_space`) and maps a batch, (B, *space.shape), to (B, outputs). Users name their
own as `module:Class`.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, cast

import torch
from gymnasium import spaces
from torch import Tensor, nn

from garrison.contract.importing import import_named
from garrison.errors import UserError, choose
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.convolutions import Impala, Nature
from garrison.learn.nn.leaf_encoder import LeafEncoder
from garrison.learn.spaces.observations import Inputs, ObservationForm, encoder_name


class Flat(LeafEncoder):
    """No network: the numbers as they are. The only encoder that the compiled network covers."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        super().__init__()
        self.outputs = prod(space.shape or ())

    def forward(self, x: Tensor) -> Tensor:
        """Return one row per sample."""
        return x.flatten(1)


ENCODERS: dict[str, Callable[[Any], LeafEncoder]] = {"mlp": Flat, "nature": Nature, "impala": Impala}


class ObservationEncoder(nn.Module):
    """Reads a whole observation: an encoder for each of its leaves, with their features side by side."""

    outputs: int

    def __init__(self, form: ObservationForm, name: str) -> None:
        super().__init__()
        self.parts = nn.ModuleList(_leaf_encoder(leaf, name) for leaf in form.leaves)
        self.outputs = sum(_width(part) for part in self.parts)

    def forward(self, inputs: Inputs) -> Tensor:
        """Return the features, (B, outputs)."""
        features = [part(leaf) for part, leaf in zip(self.parts, inputs, strict=True)]
        return features[0] if len(features) == 1 else torch.cat(features, dim=1)

    def draw_weights(self, generator: torch.Generator) -> None:
        """Let every encoder draw its initial weights."""
        for part in self.parts:
            cast(LeafEncoder, part).draw_weights(generator)


class OwnEncoder(ObservationEncoder):
    """A user's encoder, which is given whole observations: a dict of tensors where the space is a Dict."""

    def __init__(self, form: ObservationForm, name: str) -> None:
        nn.Module.__init__(self)
        self._form, self._name = form, name
        self._kind = import_named(name)
        if not (inspect.isclass(self._kind) and issubclass(self._kind, nn.Module)):
            raise UserError(f"the encoder {name} is not a class of torch.nn.Module.")
        self.module = self._make(torch.Generator().manual_seed(0))
        self.outputs = _width(self.module, name)
        if any(True for _ in self.module.buffers()):
            raise UserError(
                f"the encoder {name} keeps buffers, such as those of BatchNorm, which a policy's weights do not hold.",
                hint="Use layers without running statistics, such as LayerNorm or GroupNorm.",
            )

    def forward(self, inputs: Inputs) -> Tensor:
        """Return the features, (B, outputs)."""
        features: Tensor = self.module(self._form.structure(inputs))
        if features.shape != (len(inputs[0]), self.outputs):
            raise UserError(
                f"the encoder {self._name} returned a tensor of shape {tuple(features.shape)} for a batch of "
                f"{len(inputs[0])}; its outputs say ({len(inputs[0])}, {self.outputs})."
            )
        return features

    def draw_weights(self, generator: torch.Generator) -> None:
        """Take the weights that the user's class draws, here from the policy's own seed."""
        with torch.no_grad():
            for parameter, drawn in zip(self.parameters(), self._make(generator).parameters(), strict=True):
                parameter.copy_(drawn)

    def _make(self, generator: torch.Generator) -> nn.Module:
        with _drawing_from(generator):
            try:
                module: nn.Module = self._kind(self._form.input_space)
            except TypeError as error:
                raise UserError(
                    f"the encoder {self._name} could not be made with the space of its inputs: {error}."
                ) from error
        return module


def make_encoder(form: ObservationForm, config: PolicyConfig) -> ObservationEncoder:
    """Return the encoder that the settings name for observations of this form."""
    if ":" in config.encoder:
        return OwnEncoder(form, config.encoder)
    return ObservationEncoder(form, config.encoder)


def _leaf_encoder(leaf: ObservationForm, name: str) -> LeafEncoder:
    kind = ENCODERS[choose("encoder", encoder_name(leaf, name), tuple(ENCODERS))]
    with torch.device("meta"):  # the policy draws the weights, and torch's own stream is left alone
        module = kind(leaf.input_space)
    return module.to_empty(device="cpu")


def _width(module: nn.Module, name: str = "") -> int:
    outputs = getattr(module, "outputs", None)
    if not isinstance(outputs, int) or outputs < 1:
        raise UserError(
            f"the encoder {name or type(module).__name__} needs an attribute outputs, its number of features."
        )
    return outputs


@contextmanager
def _drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Let torch's global stream, which layers draw their first weights from, follow the generator inside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**62, (1,), generator=generator)))
        yield
