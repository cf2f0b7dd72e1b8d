"""From a network's inputs to its outputs, to play with: NumPy alone where that is enough, torch elsewhere."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, Self

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
Layers = list[tuple[Logits, Logits]]


class InferenceNetwork(Protocol):
    """What an agent needs of a network."""

    @property
    def size(self) -> int:
        """How many inputs it has."""

    @property
    def outputs(self) -> int:
        """How many logits it gives."""

    @property
    def is_recurrent(self) -> bool:
        """Whether it has a state that goes from step to step."""

    def begin(self, num_envs: int) -> None:
        """Get ready for this many environments."""

    def logits(self, rows: Rows, starts: Flags) -> Logits:
        """Return the logits of each row of inputs; `starts` says where an episode begins."""

    def values(self, rows: Rows) -> Logits | None:
        """Return the critic's value of each row that `logits` was given last; None if there is no such critic."""

    def clone(self, rows: NDArray[np.intp]) -> Self:
        """Return the same network with the memory of these environments, sharing no memory."""


def network_of(description: dict[str, Any], weights: Any) -> InferenceNetwork:
    """Build the network that `garrison.learn.nn.description.describe_policy` described."""
    if PlainNetwork.covers(description):
        return PlainNetwork(description, np.asarray(weights, np.float32))
    require("torch")
    return TorchNetwork(build_policy(description, weights))


class PlainNetwork:
    """The actor of a feed-forward policy of dense layers, in NumPy: nothing else needs to be installed to play."""

    is_recurrent = False

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

        def layers(tower: str, head: str) -> Layers:
            names = [*(layer_name(tower, number) for number in range(len(config.hidden))), head]
            return [(np.ascontiguousarray(parameter(f"{name}.weight").T), parameter(f"{name}.bias")) for name in names]

        self._layers = layers("actor", "action_head")
        self._critic = layers("actor" if config.trunk == "shared" else "critic", "value_head")
        self._has_value = not extras and bool(parameter("value_head.weight").any())
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
        result: Logits = np.empty((len(rows), self.outputs), np.float32)
        depending = self.outputs - len(self._free)
        result[:, :depending] = self._through(self._layers, rows)
        result[:, depending:] = self._free
        return result

    def values(self, rows: Rows) -> Logits | None:
        """Return the critic's values; None if it saw more than the actor, or was left out."""
        return self._through(self._critic, rows)[:, 0] if self._has_value else None

    def clone(self, rows: NDArray[np.intp]) -> Self:
        """Return itself: nothing is kept between steps."""
        return self

    def _through(self, layers: Layers, rows: Rows) -> Logits:
        x: Logits = rows.reshape(len(rows), -1).astype(np.float32)
        for matrix, bias in layers[:-1]:
            x = self._activate(x @ matrix + bias)
        matrix, bias = layers[-1]
        return np.asarray(x @ matrix + bias)


def _relu(x: Logits) -> Logits:
    return np.maximum(x, 0)


class TorchNetwork:
    """Any policy, computed by torch; a GRU's state is kept for each environment."""

    def __init__(self, policy: "Policy") -> None:
        self._policy = policy
        self.size, self.outputs = policy.seen.size, policy.actions.outputs
        self.is_recurrent = policy.is_recurrent
        self._state: torch.Tensor | None = None
        self._before: torch.Tensor | None = None
        self._begins: torch.Tensor | None = None

    def begin(self, num_envs: int) -> None:
        """Start with an empty state for each environment."""
        self._state = self._policy.initial_state(num_envs) if self._policy.is_recurrent else None

    def logits(self, rows: Rows, starts: Flags) -> Logits:
        """Return the logits of each row of inputs; the state is forgotten where an episode starts."""
        import torch

        with self._inference():
            if self._state is None:
                outputs, _ = self._policy.decide(self._inputs(rows))
            else:
                self._before, self._begins = self._state, torch.from_numpy(starts.copy()).unsqueeze(0)
                outputs, self._state = self._policy.decide(self._inputs(rows), self._state, self._begins)
        return np.array(outputs.numpy())

    def values(self, rows: Rows) -> Logits | None:
        """Return the critic's values; None if it saw more than the actor, or has a GRU of its own."""
        policy = self._policy
        has_own_gru = policy.is_recurrent and policy.critic is not policy.actor
        if policy.observations is not policy.seen or has_own_gru or not policy.value_head.weight.any():
            return None
        with self._inference():
            return np.array(policy(self._inputs(rows), self._before, self._begins)[1].numpy())

    def clone(self, rows: NDArray[np.intp]) -> Self:
        """Return the same policy with the states of these environments."""
        twin = copy.copy(self)
        if self._state is not None:
            twin._state = self._state[:, rows].clone()
        return twin

    def _inputs(self, rows: Rows) -> Any:
        import torch

        return self._policy.seen.split(torch.from_numpy(rows.astype(np.float32)))

    @contextmanager
    def _inference(self) -> Iterator[None]:
        """One thread: products this small gain little from a second, and wait long for it on a busy machine."""
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                yield
        finally:
            torch.set_num_threads(threads)
