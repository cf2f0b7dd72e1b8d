"""What every learner shares with its caller: how a run is followed, what it returns, how its network is computed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv

from garrison.errors import UserError
from garrison.learn.collector import Network
from garrison.learn.config import LearnerConfig
from garrison.learn.loss import Means
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.blas import find_sgemm
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.policy import Policy
from garrison.learn.rollout import Rollout

STATE_FORMAT = 1
RECENT = 100
"""Episodes over which returns and lengths are averaged."""

EnvFactory = Callable[[int], VectorEnv[Any, Any, Any]]
"""Makes a vector environment of this many environments; sent to other processes, so it must be picklable."""
Envs = VectorEnv[Any, Any, Any] | EnvFactory
"""What `train` takes: environments that are ready, or how to make them."""


class RunLog:
    """What a run folder, a progress bar or a test hands to `train` to follow it; this one does nothing."""

    @property
    def stop(self) -> bool:
        """Whether to end after this update: an interrupt, or the time is up."""
        return False

    @property
    def share(self) -> float | None:
        """The share of the run that is done, which schedules follow; None if the steps decide."""
        return None

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Take the metrics of one update; `step` counts environment steps."""

    def say(self, text: str) -> None:
        """Take a sentence about something that went wrong and does not end the run."""

    def due_checkpoint(self, step: int) -> bool:
        """Return whether a checkpoint is wanted now."""
        return False

    def checkpoint(self, state: dict[str, Any]) -> None:
        """Keep a state; nested dicts of tensors and plain values, which `torch.load` reads with `weights_only`."""


@dataclass(frozen=True)
class Result:
    """What training came to."""

    policy: Policy
    """The trained network."""
    state: dict[str, Any]
    """Everything needed to continue: pass it to `train` as `resume`."""
    steps: int
    """Environment steps taken, earlier parts of a resumed run included."""
    updates: int
    """Updates made, earlier parts of a resumed run included."""
    seconds: float
    """Wall time of this part."""
    metrics: dict[str, float]
    """The metrics of the last update."""
    times: dict[str, float]
    """Seconds spent in each stage of this part."""
    threads: int
    """Threads that the network was computed with."""
    compute: str
    """How the network was computed: compiled or autograd."""
    exact_resume: bool
    """False if the environments could not be put back into their states, so that new episodes began instead."""


class Diverged(RuntimeError):
    """A quantity stopped being finite; `state` is the last good state, before the update in which that happened."""

    def __init__(self, message: str, state: dict[str, Any]) -> None:
        super().__init__(message)
        self.state = state


def progress(config: LearnerConfig, steps: int, run: RunLog | None) -> float:
    """Return the share of the run that is done, 0 to 1."""
    share = None if run is None else run.share
    return min(1.0, steps / config.steps if share is None else share)


def find_device(name: str) -> torch.device:
    """Return the device of that name; `auto` prefers CUDA."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(f"device {name!r} is not available: torch sees no CUDA device. Use --device cpu.")
    return torch.device(name)


def make_network(policy: Policy, num_envs: int, compute: str, threads: int) -> Network:
    """Return the way to compute a policy that `compute` names; `auto` prefers the compiled one."""
    can_compile = policy.flat.device.type == "cpu" and not policy.is_recurrent and find_sgemm() is not None
    if compute == "compiled" and not can_compile:
        raise UserError(
            "compute 'compiled' needs a feed-forward policy on a CPU and a BLAS library; use auto or autograd."
        )
    chosen = CompiledNetwork if can_compile and compute != "autograd" else AutogradNetwork
    return chosen(policy, num_envs, threads)


def compute_of(network: Network) -> str:
    """Name the way a network is computed."""
    return "compiled" if isinstance(network, CompiledNetwork) else "autograd"


def check_resumable(state: dict[str, Any], algorithm: str, policy: Policy) -> None:
    """Raise a UserError if `state` is not one of this algorithm and this policy."""
    if state.get("format") != STATE_FORMAT or state.get("algorithm") != algorithm:
        raise UserError(
            f"cannot resume: the state is of algorithm {state.get('algorithm')!r}, format {state.get('format')!r}; "
            f"this {algorithm.upper()} reads format {STATE_FORMAT}."
        )
    check_shape(state["weights"], policy, "resume")


def check_shape(weights: torch.Tensor, policy: Policy, what: str) -> None:
    """Raise a UserError if these are not the weights of such a policy; `what` says what they are wanted for."""
    if weights.shape != policy.flat.shape:
        raise UserError(
            f"cannot {what}: the state holds {len(weights)} weights and this policy has {len(policy.flat)}; "
            "the policy's settings or the environment's spaces differ."
        )


def check_factory(envs: Envs, num_envs: int | None, algorithm: str) -> tuple[EnvFactory, int]:
    """Return a learner's function that makes environments, and how many it should make; refuse ready ones."""
    if not callable(envs):
        raise UserError(f"{algorithm} makes environments in every actor: give it a function that makes them.")
    if num_envs is None:
        raise UserError("say how many environments to make: num_envs is missing.")
    return envs, num_envs


def start_from(weights: torch.Tensor | None, policy: Policy) -> None:
    """Let a policy start from the weights of another one, if there are any."""
    if weights is not None:
        check_shape(weights, policy, "start")
        policy.flat.copy_(weights)


def check_finite(rollout: Rollout, updates: int, state: Callable[[], dict[str, Any]]) -> None:
    """Raise Diverged if what was collected holds a number that is not finite."""
    for name in ("rewards", "values", "log_probs"):
        array = getattr(rollout, name)
        if not np.isfinite(array.sum(dtype=np.float64)):
            t, i = np.argwhere(~np.isfinite(array))[0]
            raise Diverged(
                f"{name} are not finite while collecting for update {updates + 1}: first at step {t} of the rollout, "
                f"environment {i}: {array[t, i]}.",
                state(),
            )


def broken(means: Means, norm: float) -> str | None:
    """Name the first quantity that is not finite."""
    for name, value in zip(Means._fields, means, strict=True):
        if not np.isfinite(value):
            return f"the loss's part {name!r}"
    return None if np.isfinite(norm) else "the gradient"


def explained_variance(returns: Any, values: Any) -> float:
    """Return the share of the returns' variance that the critic's values explain."""
    variance = float(np.var(returns))
    return 1.0 - float(np.var(returns - values)) / variance if variance > 0 else 0.0
