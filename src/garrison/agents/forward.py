"""From observations to logits: with NumPy alone where the network has no recurrence, with torch where it has."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from garrison.agents.protocol import Bits, Flags
from garrison.errors import UserError
from garrison.system import require

if TYPE_CHECKING:
    import torch

    from garrison.learn.nn.policy import Policy

Logits = NDArray[np.float32]


class Network(Protocol):
    """What an agent needs of a network."""

    @property
    def size(self) -> int:
        """How many inputs it has."""

    def begin(self, num_envs: int) -> None:
        """Get ready for this many environments."""

    def logits(self, rows: Bits, starts: Flags) -> Logits:
        """Return the logits of each row of bits; `starts` says where an episode begins."""


def network_of(description: dict[str, Any], weights: Any) -> Network:
    """Build the network that `garrison.learn.nn.description.describe_policy` described."""
    if description["config"].get("recurrent_size"):
        require("torch")
        from garrison.learn.nn.description import build_policy

        return TorchNetwork(build_policy(description, weights))
    return PlainNetwork(description, np.asarray(weights, np.float32))


class PlainNetwork:
    """The actor of a feed-forward policy, in NumPy: nothing else needs to be installed to play."""

    def __init__(self, description: dict[str, Any], weights: NDArray[np.float32]) -> None:
        config = description["config"]
        self.size = int(np.prod(np.shape(description["observation_space"]["low"])))
        widths = [self.size, *config["hidden"]]
        shapes = list(pairwise(widths))
        self._activate = np.tanh if config["activation"] == "tanh" else lambda x: np.maximum(x, 0)
        at = 0
        self._layers: list[tuple[Logits, Logits]] = []  # matrices and biases
        for inputs, outputs in shapes:
            at = self._take(weights, at, inputs, outputs)
        if config["trunk"] == "separate":  # the critic's layers stand between the actor's and its head
            at += sum((inputs + 1) * outputs for inputs, outputs in shapes)
        at = self._take(weights, at, widths[-1], int(description["action_space"]["n"]))
        if at + widths[-1] + 1 != len(weights):
            raise UserError(f"the checkpoint holds {len(weights)} weights, but its network has {at + widths[-1] + 1}.")

    def _take(self, weights: NDArray[np.float32], at: int, inputs: int, outputs: int) -> int:
        """Cut the next layer out of the flat weights and return where the one after it begins."""
        end = at + inputs * outputs
        matrix = np.ascontiguousarray(weights[at:end].reshape(outputs, -1).T) if end < len(weights) else None
        if matrix is None or matrix.shape != (inputs, outputs):
            raise UserError(f"the checkpoint holds {len(weights)} weights, too few for its network.")
        self._layers.append((matrix, weights[end : end + outputs]))
        return end + outputs

    def begin(self, num_envs: int) -> None:
        """Need nothing: there is no memory."""

    def logits(self, rows: Bits, starts: Flags) -> Logits:
        """Return the logits of each row of bits."""
        x = rows.astype(np.float32)
        for matrix, bias in self._layers[:-1]:
            x = self._activate(x @ matrix + bias)
        matrix, bias = self._layers[-1]
        result: Logits = x @ matrix + bias
        return result


class TorchNetwork:
    """Any policy, computed by torch; a GRU's state is kept for each environment."""

    def __init__(self, policy: "Policy") -> None:
        self._policy = policy
        self.size = policy.observations.size
        self._state: torch.Tensor | None = None

    def begin(self, num_envs: int) -> None:
        """Start with an empty state for each environment."""
        self._state = self._policy.initial_state(num_envs) if self._policy.is_recurrent else None

    def logits(self, rows: Bits, starts: Flags) -> Logits:
        """Return the logits of each row of bits; the state is forgotten where an episode starts."""
        import torch

        inputs = torch.from_numpy(rows.astype(np.float32))
        # One thread: products this small gain little from a second, and wait long for it on a busy machine.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                if self._state is None:
                    outputs, _, _ = self._policy(inputs)
                else:
                    outputs, _, self._state = self._policy(
                        inputs.unsqueeze(0), self._state, torch.from_numpy(starts).unsqueeze(0)
                    )
                    outputs = outputs[0]
        finally:
            torch.set_num_threads(threads)
        return np.array(outputs.numpy())
