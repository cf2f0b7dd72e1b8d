"""The policy as a pure function of its weights, which lie in one vector in the order of `Policy.flat`."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax, nn

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.parameters import find_places, layer_name, mlp_shapes

Array = Any
Parameters = dict[str, Array]
"""Weights and biases by the names that they have in `Policy`."""


class DensePolicy:
    """Dense layers, a head of logits and a head of one value; what a policy is without convolutions and memory."""

    def __init__(self, inputs: int, outputs: int, config: PolicyConfig) -> None:
        self.outputs = outputs
        self.is_shared, self.layers = config.trunk == "shared", len(config.hidden)
        self.places = find_places(mlp_shapes(inputs, config.hidden, outputs, self.is_shared))
        self.activation: Callable[[Array], Array] = jnp.tanh if config.activation == "tanh" else nn.relu

    def split(self, flat: Array) -> Parameters:
        """Return the parts of the vector, each in its shape."""
        return {name: flat[place.begin : place.end].reshape(place.shape) for name, place in self.places.items()}

    def join(self, parameters: Parameters) -> Array:
        """Undo `split`, for weights or for their gradients."""
        return jnp.concatenate([parameters[name].reshape(-1) for name in self.places])

    def logits_and_values(self, parameters: Parameters, inputs: Array) -> tuple[Array, Array]:
        """Return (B, actions) logits and (B,) values of (B, inputs) observations."""
        features = self._tower("actor", parameters, inputs)
        logits = _affine(parameters, "action_head", features)
        if not self.is_shared:
            features = self._tower("critic", parameters, inputs)
        return logits, _affine(parameters, "value_head", features)[:, 0]

    def values(self, parameters: Parameters, inputs: Array) -> Array:
        """Return the values alone."""
        features = self._tower("actor" if self.is_shared else "critic", parameters, inputs)
        return _affine(parameters, "value_head", features)[:, 0]

    def _tower(self, name: str, parameters: Parameters, x: Array) -> Array:
        for number in range(self.layers):
            x = self.activation(_affine(parameters, layer_name(name, number), x))
        return x


def _affine(parameters: Parameters, name: str, x: Array) -> Array:
    # In full: some devices would round the factors to ten bits, and then a policy's odds depend on the device.
    product = jnp.matmul(x, parameters[f"{name}.weight"].T, precision=lax.Precision.HIGHEST)
    return product + parameters[f"{name}.bias"]
