"""Proximal policy optimisation (Schulman et al., 2017): collect, estimate advantages, learn, log, repeat."""

import os
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch
from gymnasium.vector import VectorEnv

from garrison.errors import UserError
from garrison.learn.adam import Adam
from garrison.learn.autograd import AutogradNetwork
from garrison.learn.blas import find_sgemm
from garrison.learn.collector import Collector, Network
from garrison.learn.compiled import CompiledNetwork
from garrison.learn.config import PPOConfig
from garrison.learn.loss import Means, Terms, normalisation
from garrison.learn.policy import Policy
from garrison.learn.returns import gae
from garrison.learn.rollout import Batch, Rollout
from garrison.learn.timing import Stopwatch

STATE_FORMAT = 1


class RunLog(Protocol):
    """What a run folder, a progress bar or a test hands to `train` to follow it."""

    @property
    def stop(self) -> bool:
        """Whether to end after this update: an interrupt, or the time is up."""

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Take the metrics of one update; `step` counts environment steps."""

    def due_checkpoint(self, step: int) -> bool:
        """Say whether a checkpoint is wanted now."""

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


def train(
    config: PPOConfig,
    envs: VectorEnv[Any, Any, Any],
    run: RunLog | None = None,
    resume: dict[str, Any] | None = None,
    weights: torch.Tensor | None = None,
) -> Result:
    """Train a policy on `envs` until `config.steps` steps are taken or `run` says stop.

    It starts from `resume`, the state of an earlier part; or else from `weights`, those of another policy of the same
    shape (`Policy.flat`); or else from weights drawn with the seed.

    The same configuration and seed on the same machine give the same result, also when stopped and resumed, provided
    that the environments have `get_state()` and `set_state(state)`. The environments are stepped, not closed.
    """
    began = perf_counter()
    policy = Policy(envs.single_observation_space, envs.single_action_space, config.policy, config.seed)
    policy.move(_device(config.device))
    threads_before = torch.get_num_threads()
    network = _network(config, policy, envs.num_envs)
    adam = Adam(policy.flat, config.adam_beta1, config.adam_beta2, config.adam_epsilon)
    collector = Collector(envs, network, config.seed, config.action_masks)
    rollout = Rollout.allocate(
        config.rollout, envs.num_envs, policy.observations, policy.actions, masked=config.action_masks
    )
    steps, updates, exact_resume = 0, 0, True
    recent_returns: list[float] = []
    recent_lengths: list[int] = []

    def state() -> dict[str, Any]:
        return {
            "format": STATE_FORMAT,
            "algorithm": "ppo",
            "steps": steps,
            "updates": updates,
            "weights": policy.flat.clone().cpu(),
            "adam": adam.state(),
            "collector": collector.state(),
            "recent_returns": list(recent_returns),
            "recent_lengths": list(recent_lengths),
        }

    if resume is None:
        if weights is not None:
            _check_shape(weights, policy, "start")
            policy.flat.copy_(weights)
        collector.reset(config.seed)
    else:
        _check_resumable(resume, policy, envs.num_envs)
        steps, updates = resume["steps"], resume["updates"]
        policy.flat.copy_(resume["weights"])
        adam.restore(resume["adam"])
        recent_returns += resume["recent_returns"]
        recent_lengths += resume["recent_lengths"]
        exact_resume = collector.restore(resume["collector"], seed=config.seed + steps)

    watch = Stopwatch()
    metrics: dict[str, float] = {}
    try:
        while steps < config.steps and not (run is not None and run.stop):
            update_began = perf_counter()
            memory = network.state.clone()
            returns, lengths = collector.collect(rollout, watch)
            recent_returns = (recent_returns + returns)[-100:]
            recent_lengths = (recent_lengths + lengths)[-100:]

            _check_finite(rollout, updates, state)
            advantages = gae(
                rollout.rewards * np.float32(config.reward_scale),
                rollout.values,
                rollout.terminations,
                rollout.truncations,
                rollout.final_values,
                rollout.last_values,
                config.gamma,
                config.gae_lambda,
            )
            batch = Batch.of(rollout, advantages, memory)
            watch.mark("advantages")

            learning_rate = config.learning_rate_at(steps)
            terms = Terms(config.clip, config.value_clip, config.value_coef, config.entropy_coef_at(steps))
            if config.normalise_advantages == "batch":
                mean, scale = normalisation(batch.advantages[batch.counted.reshape(-1)])
                terms = terms._replace(advantage_mean=mean, advantage_scale=scale)
            good_weights, good_adam = policy.flat.clone(), adam.state()
            # Each update's order has a seed of its own, so a resumed run needs no generator's state.
            random = np.random.default_rng((config.seed, updates))
            parts: list[Means] = []
            norms: list[float] = []
            epochs = 0
            for epoch in range(config.epochs):
                epoch_began = len(parts)
                minibatches = batch.minibatches(config.minibatches, policy.is_recurrent, random)
                for number, rows in enumerate(minibatches):
                    if config.normalise_advantages == "minibatch":
                        mean, scale = normalisation(batch.advantages[rows][batch.counted.reshape(-1)[rows]])
                        terms = terms._replace(advantage_mean=mean, advantage_scale=scale)
                    means = network.gradient(batch, rows, terms)
                    norm = adam.step(network.gradients, learning_rate, config.max_grad_norm)
                    if broken := _broken(means, norm):
                        policy.flat.copy_(good_weights)
                        adam.restore(good_adam)
                        raise Diverged(
                            f"{broken} is not finite since update {updates + 1}, epoch {epoch + 1}, minibatch "
                            f"{number + 1} (after {steps} steps); the last good state is kept. A lower learning_rate "
                            f"(now {learning_rate:g}), max_grad_norm or reward_scale may help.",
                            state(),
                        )
                    parts.append(means)
                    norms.append(norm)
                epochs += 1
                if config.target_kl and np.mean([p.approx_kl for p in parts[epoch_began:]]) > config.target_kl:
                    break
            watch.mark("learn")

            steps += int(rollout.counted.sum())
            updates += 1
            losses = np.mean(np.array(parts), axis=0)
            metrics = {
                "charts/steps_per_second": float(rollout.counted.sum() / (perf_counter() - update_began)),
                "charts/learning_rate": learning_rate,
                "charts/entropy_coef": terms.entropy_coef,
                "charts/epochs": epochs,
                "charts/episodes": len(returns),
                **{f"losses/{name}": float(value) for name, value in zip(Means._fields, losses, strict=True)},
                "losses/grad_norm": float(np.mean(norms)),
                "losses/explained_variance": _explained_variance(batch),
                **{f"time/{stage}": seconds for stage, seconds in watch.lap().items()},
            }
            if recent_returns:
                metrics["charts/episode_return"] = float(np.mean(recent_returns))
                metrics["charts/episode_length"] = float(np.mean(recent_lengths))
            if run is not None:
                run.log(steps, metrics)
                if run.due_checkpoint(steps):
                    run.checkpoint(state())
            watch.mark("log")
        final = state()
    except Diverged as diverged:
        if run is not None:
            run.checkpoint(diverged.state)
        raise
    finally:
        network.close()
        torch.set_num_threads(threads_before)
    if run is not None:
        run.checkpoint(final)
    return Result(
        policy=policy,
        state=final,
        steps=steps,
        updates=updates,
        seconds=perf_counter() - began,
        metrics=metrics,
        times=dict(watch.totals),
        threads=network.threads,
        compute="compiled" if isinstance(network, CompiledNetwork) else "autograd",
        exact_resume=exact_resume,
    )


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(f"device {name!r} is not available: torch sees no CUDA device. Use --device cpu.")
    return torch.device(name)


def _network(config: PPOConfig, policy: Policy, num_envs: int) -> Network:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    can_compile = policy.flat.device.type == "cpu" and not policy.is_recurrent and find_sgemm() is not None
    if config.compute == "compiled" and not can_compile:
        raise UserError(
            "compute 'compiled' needs a feed-forward policy on a CPU and a BLAS library; use auto or autograd."
        )
    chosen = CompiledNetwork if can_compile and config.compute != "autograd" else AutogradNetwork
    return chosen(policy, num_envs, config.threads or cores)


def _check_resumable(state: dict[str, Any], policy: Policy, num_envs: int) -> None:
    if state.get("format") != STATE_FORMAT or state.get("algorithm") != "ppo":
        raise UserError(
            f"cannot resume: the state is of algorithm {state.get('algorithm')!r}, format {state.get('format')!r}; "
            f"this PPO reads format {STATE_FORMAT}."
        )
    _check_shape(state["weights"], policy, "resume")
    if len(state["collector"]["streams"]) != num_envs:
        saved = len(state["collector"]["streams"])
        raise UserError(f"cannot resume: the state is of {saved} environments, and there are {num_envs}.")


def _check_shape(weights: torch.Tensor, policy: Policy, what: str) -> None:
    if weights.shape != policy.flat.shape:
        raise UserError(
            f"cannot {what}: the state holds {len(weights)} weights and this policy has {len(policy.flat)}; "
            "the policy's settings or the environment's spaces differ."
        )


def _check_finite(rollout: Rollout, updates: int, state: Any) -> None:
    for name in ("rewards", "values", "log_probs"):
        array = getattr(rollout, name)
        if not np.isfinite(array.sum(dtype=np.float64)):
            t, i = np.argwhere(~np.isfinite(array))[0]
            raise Diverged(
                f"{name} are not finite while collecting for update {updates + 1}: first at step {t} of the rollout, "
                f"environment {i}: {array[t, i]}.",
                state(),
            )


def _broken(means: Means, norm: float) -> str | None:
    """Name the first quantity that is not finite."""
    for name, value in zip(Means._fields, means, strict=True):
        if not np.isfinite(value):
            return f"the loss's part {name!r}"
    return None if np.isfinite(norm) else "the gradient"


def _explained_variance(batch: Batch) -> float:
    variance = float(np.var(batch.returns))
    return 1.0 - float(np.var(batch.returns - batch.values)) / variance if variance > 0 else 0.0
