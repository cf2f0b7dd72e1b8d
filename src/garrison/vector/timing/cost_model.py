"""A model of what a step of a batch takes on each backend; `auto` chooses by it, `garrison profile` recommends by it.

N environments in groups of W workers on C cores, each step taking `step` seconds of which `cpu` needs a core:

    serial     N (step + around) + call
    shared     the slowest group's sum of steps, or what the cores can do if that is more, (1 + slower) times,
               + barrier + worker W
    joint      the same with `looks` in the place of `barrier`: nobody is woken
    async      the mean group's sum of steps, or what the cores can do, + message + worker W for every batch that
               `recv` returns
"""

from dataclasses import dataclass

import numpy as np

from garrison.vector.registry import BACKENDS
from garrison.vector.timing.parts import Distribution

ROUNDS = 2000


@dataclass(frozen=True)
class Overheads:
    """Seconds that a backend adds: about these on two idle cores; `garrison profile` measures them on yours."""

    around: float = 0.05e-6
    """What a step costs around the environment, per environment."""
    call: float = 6e-6
    """What a step of the batch costs in one process, whatever the environments."""
    barrier: float = 27e-6
    """What waking the workers and waiting for them costs, per step of the batch."""
    looks: float = 4e-6
    """The same where caller and workers look for each other's messages without going to sleep."""
    worker: float = 5e-6
    """What each worker adds to that."""
    message: float = 30e-6
    """What `recv` and `send` of `async` cost, per call of both."""
    slower: float = 0.05
    """How much longer the slowest core takes than the mean, as a share of it: others use it too, now one, now another.
    Who steps with a barrier waits for it every time."""


@dataclass(frozen=True)
class Load:
    """What one environment's step takes, resets included in the proportion in which they happen."""

    step: float
    """Mean seconds."""
    cpu: float = 1.0
    """The share of them that a core is needed for: less for an environment that waits, more for one with threads."""
    steps: Distribution | None = None
    """How long single steps take; without it they all take the mean."""


def predict(
    backend: str,
    load: Load,
    num_envs: int,
    workers: int,
    cores: int,
    batch_size: int = 0,
    overheads: Overheads | None = None,
) -> float:
    """Return the seconds that N transitions, one step of the batch, take."""
    add = overheads or Overheads()
    each = load.step + add.around
    if not BACKENDS[backend].is_parallel:
        return num_envs * each + add.call
    at_best = num_envs * (load.step * load.cpu + add.around) / min(cores, workers)
    if BACKENDS[backend].is_ready_first:
        batch = batch_size or num_envs
        group = max(num_envs * each / workers, at_best)
        return group + (add.message + add.worker * min(workers, batch)) * num_envs / batch
    group = max(slowest_group(load, num_envs, workers) + -(-num_envs // workers) * add.around, at_best)
    together = 1.0 if workers == 1 else 1.0 + add.slower
    return group * together + (add.looks if BACKENDS[backend].caller_steps else add.barrier) + add.worker * workers


def slowest_group(load: Load, num_envs: int, workers: int) -> float:
    """Return the expected time of the slowest worker's group, if steps take times drawn from the distribution."""
    largest = -(-num_envs // workers)
    if load.steps is None or not load.steps.total or workers == 1:
        return largest * load.step
    bounds = np.arange(workers) * num_envs // workers
    counts, middles = load.steps.counts, load.steps.middles
    draws = np.random.default_rng(0).choice(middles, (ROUNDS, num_envs), p=counts / counts.sum())
    groups = np.add.reduceat(draws, bounds, axis=1)
    # The draws know the shape, the mean (with its resets) the size.
    return float(groups.max(axis=1).mean()) * load.step / load.steps.mean
