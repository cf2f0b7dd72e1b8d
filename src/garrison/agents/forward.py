"""From a network's inputs to its outputs, to play with: NumPy alone where that is enough, torch elsewhere."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from garrison.agents.protocol import Flags
from garrison.errors import UserError
from garrison.learn.nn.description import build_policy, build_space, is_dense, policy_config
from garrison.learn.nn.parameters import FREE_OUTPUTS, find_places, layer_name, mlp_shapes
from garrison.learn.spaces.registry import action_distribution, observation_form
from garrison.system import require

if TYPE_CHECKING:
    import torch

    from garrison.learn.nn.policy import Policy

Rows = NDArray[Any]
Logits = NDArray[np.float32]


class InferenceNetwork(Protocol):
    """What an agent needs of a network."""

    @property
    def size(self) -> int:
        """How many inputs it has."""

    @property
    def outputs(self) -> int:
        """How many logits it gives."""

    def begin(self, num_envs: int) -> None:
        """Get ready for this many environments."""

    def logits(self, rows: Rows, starts: Flags) -> Logits:
        """Return the logits of each row of inputs; `starts` says where an episode begins."""


def network_of(description: dict[str, Any], weights: Any) -> InferenceNetwork:
    """Build the network that `garrison.learn.nn.description.describe_policy` described."""
    if PlainNetwork.covers(description):
        return PlainNetwork(description, np.asarray(weights, np.float32))
    require("torch")
    return TorchNetwork(build_policy(description, weights))


class PlainNetwork:
    """The actor of a feed-forward policy of dense layers, in NumPy: nothing else needs to be installed to play."""

    def __init__(self, description: dict[str, Any], weights: NDArray[np.float32]) -> None:
        config = policy_config(description)
        self.size = observation_form(build_space(description["observation_space"])).size
        actions = action_distribution(build_space(description["action_space"]), config)
        self.outputs, free = actions.outputs, actions.free_outputs
        extras = 0
        if "extras_space" in description:
            extras = observation_form(build_space(description["extras_space"])).size
        shapes = mlp_shapes(self.size, config.hidden, self.outputs, config.trunk == "shared", free, extras)
        places = find_places(shapes)
        count = max(place.end for place in places.values())
        if count != len(weights):
            raise UserError(f"the checkpoint holds {len(weights)} weights, but its network has {count}.")

        def parameter(name: str) -> Logits:
            place = places[name]
            return weights[place.begin : place.end].reshape(place.shape)

        self._activate: Callable[[Logits], Logits] = np.tanh if config.activation == "tanh" else _relu
        names = [*(layer_name("actor", number) for number in range(len(config.hidden))), "action_head"]
        self._layers = [
            (np.ascontiguousarray(parameter(f"{name}.weight").T), parameter(f"{name}.bias")) for name in names
        ]
        self._free = parameter(FREE_OUTPUTS) if free else np.zeros(0, np.float32)

    @staticmethod
    def covers(description: dict[str, Any]) -> bool:
        """Return whether such a policy can be computed so."""
        form, config = observation_form(build_space(description["observation_space"])), policy_config(description)
        return is_dense(form, config)

    def begin(self, num_envs: int) -> None:
        """Nothing is kept between steps."""

    def logits(self, rows: Rows, starts: Flags) -> Logits:
        """Return the logits of each row of inputs."""
        x: Logits = rows.reshape(len(rows), -1).astype(np.float32)
        for matrix, bias in self._layers[:-1]:
            x = self._activate(x @ matrix + bias)
        matrix, bias = self._layers[-1]
        result: Logits = np.empty((len(x), self.outputs), np.float32)
        depending = self.outputs - len(self._free)
        result[:, :depending] = x @ matrix + bias
        result[:, depending:] = self._free
        return result


def _relu(x: Logits) -> Logits:
    return np.maximum(x, 0)


class TorchNetwork:
    """Any policy, computed by torch; a GRU's state is kept for each environment."""

    def __init__(self, policy: "Policy") -> None:
        self._policy = policy
        self.size, self.outputs = policy.seen.size, policy.actions.outputs
        self._state: torch.Tensor | None = None

    def begin(self, num_envs: int) -> None:
        """Start with an empty state for each environment."""
        self._state = self._policy.initial_state(num_envs) if self._policy.is_recurrent else None

    def logits(self, rows: Rows, starts: Flags) -> Logits:
        """Return the logits of each row of inputs; the state is forgotten where an episode starts."""
        import torch

        inputs = self._policy.seen.split(torch.from_numpy(rows.astype(np.float32)))
        # One thread: products this small gain little from a second, and wait long for it on a busy machine.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                if self._state is None:
                    outputs, _ = self._policy.decide(inputs)
                else:
                    begins = torch.from_numpy(starts).unsqueeze(0)
                    outputs, self._state = self._policy.decide(inputs, self._state, begins)
        finally:
            torch.set_num_threads(threads)
        return np.array(outputs.numpy())
