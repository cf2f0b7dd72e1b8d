"""The one interface through which a policy is computed, and the choice of what computes it."""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.nn.adam import Adam
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.blas import find_sgemm
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.epoch import SMALLEST_SHARE, Step, Stride
from garrison.learn.nn.loss import Means, Terms
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import Streams
from garrison.learn.rollout import Rollout, TrainingBatch

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


class Network(Protocol):
    """A way to compute a policy: `AutogradNetwork` or `CompiledNetwork`."""

    compute: str
    """Its name in the setting `compute`."""
    policy: Policy
    threads: int
    gradients: torch.Tensor
    """Of the loss, in the order of `policy.flat`."""
    recurrent_state: torch.Tensor
    """(towers, N, recurrent_size): of each environment, after its last action."""

    def act(
        self,
        observations: NDArray[Any],
        starts: Flags,
        masks: Flags,
        streams: Streams,
        choices: NDArray[Any],
        log_probs: Floats,
        values: Floats,
        envs: Rows | None = None,
    ) -> None:
        """Draw an action for every environment, or for those in `envs`; writes choices, log_probs and values.

        Every array has a row for each of them.
        """

    def values(self, observations: NDArray[Any], envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""

    def evaluate(self, rollout: Rollout, recurrent_state: torch.Tensor) -> tuple[Floats, Floats]:
        """Return what the present weights say of a rollout: (T, N) log-probabilities of its choices, (T + 1, N) values.

        `recurrent_state` is the one before the first step.
        """

    def gradient(self, batch: TrainingBatch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`.

        A recurrent policy takes whole sequences: `rows` is (T, n), a column per environment.
        """

    def learn(
        self, batch: TrainingBatch, minibatches: list[Rows], terms: Terms, adam: Adam, stride: Stride
    ) -> list[Step]:
        """Take a step of Adam by the gradient of each minibatch in turn, until something is not finite."""

    def close(self) -> None:
        """Release what is held."""


def make_network(policy: Policy, num_envs: int, compute: str, threads: int) -> Network:
    """Return the way to compute a policy that `compute` names; `auto` prefers the compiled one."""
    can_compile = CompiledNetwork.covers(policy) and find_sgemm() is not None
    if compute == "compiled" and not can_compile:
        raise UserError(
            "compute 'compiled' needs a feed-forward policy of dense layers, actions that are Discrete, MultiDiscrete "
            "or MultiBinary, a CPU and a BLAS library; use auto or autograd."
        )
    if can_compile and compute != "autograd":
        return CompiledNetwork(policy, num_envs, threads)
    return AutogradNetwork(policy, num_envs, threads)


def choose_threads(asked: int, available: int, policy: Policy, num_envs: int) -> int:
    """Return how many threads a network gets: those asked for, or with 0 as many as there is work for.

    A GRU goes step by step, so its matrix products have only `num_envs` rows; threads that share too few of them wait
    for each other most of the time, on a busy machine twenty times as long as one of them would work.
    """
    if asked:
        return asked
    return min(available, max(1, num_envs // SMALLEST_SHARE)) if policy.is_recurrent else available


def find_device(name: str) -> torch.device:
    """Return the device of that name; `auto` prefers CUDA."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(f"device {name!r} is not available: torch sees no CUDA device. Use --device cpu.")
    return torch.device(name)
