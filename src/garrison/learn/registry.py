"""The learners by name: what can be set about each, where its `train` is, and what it needs.

A new learner is a module with a `train` of the same signature, its settings, and one line here. Files of settings call
its section by its name.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from garrison.errors import UserError
from garrison.learn.config import A3CConfig, ImpalaConfig, JaxPPOConfig, LearnerConfig, PPOConfig
from garrison.system import require

if TYPE_CHECKING:
    import torch

    from garrison.learn.envs import Envs
    from garrison.learn.impala import Connect
    from garrison.learn.result import Result
    from garrison.learn.run import RunLog


@dataclass(frozen=True)
class Learner:
    """One way to learn."""

    config: type[LearnerConfig]
    """What can be set about it."""
    module: str
    """Where its `train` is; imported when it trains, because that loads torch."""
    has_actors: bool
    """Whether each of its actors makes environments of its own, so that it takes a function that makes them."""
    can_cluster: bool
    """Whether its actors can be on a cluster: then `train` also takes `connect`."""
    on_device: bool = False
    """Whether it steps environments inside its own compiled function, so that it takes one that is written in JAX."""
    needs: tuple[str, ...] = ()
    """Optional modules that it imports besides torch."""
    keeps: tuple[str, ...] = ()
    """What its state has of the parts that `garrison.storage.saved_run.KEPT` knows how to check."""


_USUAL = ("adam", "episodes")

LEARNERS: dict[str, Learner] = {
    "ppo": Learner(PPOConfig, "garrison.learn.ppo", has_actors=False, can_cluster=False, keeps=_USUAL),
    "ppo-jax": Learner(
        JaxPPOConfig,
        "garrison.learn.jax_ppo.learner",
        has_actors=False,
        can_cluster=False,
        on_device=True,
        needs=("jax",),
        keeps=_USUAL,
    ),
    "impala": Learner(ImpalaConfig, "garrison.learn.impala", has_actors=True, can_cluster=True, keeps=_USUAL),
    "a3c": Learner(A3CConfig, "garrison.learn.a3c", has_actors=True, can_cluster=False, keeps=_USUAL),
}
"""Learners by the name that presets and YAML files give them."""


def algorithm_of(config: LearnerConfig) -> str:
    """Return the name of the learner that these settings are for.

    >>> algorithm_of(PPOConfig())
    'ppo'
    """
    for name, learner in LEARNERS.items():
        if type(config) is learner.config:
            return name
    raise UserError(f"no learner has settings of type {type(config).__name__}; there are: {', '.join(LEARNERS)}.")


def learner_section(experiment: dict[str, Any]) -> dict[str, Any]:
    """Return the learner's settings from those of a run, as a checkpoint keeps them."""
    for name in LEARNERS:
        if name in experiment:
            found: dict[str, Any] = experiment[name]
            return found
    raise UserError(f"the settings of the run name no learner; there are: {', '.join(LEARNERS)}.")


def train(
    config: LearnerConfig,
    envs: "Envs",
    num_envs: int | None = None,
    run: "RunLog | None" = None,
    resume: dict[str, Any] | None = None,
    weights: "torch.Tensor | None" = None,
    connect: "Connect | None" = None,
) -> "Result":
    """Train a policy with the learner that `config` is for, until `config.steps` are taken or `run` says stop.

    Args:
        config: what to do: `PPOConfig`, `JaxPPOConfig`, `ImpalaConfig` or `A3CConfig`.
        envs: a vector environment, or a function that makes one of a given number of environments. A learner with
            actors takes only the function, which is sent to other processes, so it must be picklable; `ppo-jax` takes
            an environment that is written in JAX, such as `garrison.jaxsim.Cage2`.
        num_envs: how many environments the function makes, for each actor where there are actors.
        run: follows the run.
        resume: the state of an earlier result or checkpoint.
        weights: where to start from without `resume`: the weights (`Policy.flat`) of another policy of this shape.
        connect: starts the actors elsewhere, such as `garrison.cluster.Remote`, for learners that can do that.
    """
    name = algorithm_of(config)
    if connect is not None and not LEARNERS[name].can_cluster:
        raise UserError(f"{name} cannot have its actors on a cluster.")
    require(*LEARNERS[name].needs)
    elsewhere = {} if connect is None else {"connect": connect}
    result: Result = import_module(LEARNERS[name].module).train(
        config, envs, num_envs, run, resume, weights, **elsewhere
    )
    return result
