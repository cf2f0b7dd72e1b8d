"""One training run of `garrison bench learning`, by us or by Stable-Baselines3, and the curve of its returns.

Both sides train on the same wrapped environments, which keep the books: an episode counts where it ended, with the
rewards as the environment gave them.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from garrison.bench.method.fresh_process import Report
from garrison.bench.method.labels import GARRISON
from garrison.bench.suites.learning_jobs import LearningJob, our_settings, sb3_settings

SB3 = "Stable-Baselines3"
WINDOWS = 20
"""Equal parts of a run; a point of the curve is the mean return of the episodes that ended in one of them."""
SEEDS_APART = 1000
"""Between the seeds of two runs: environment i of a run has its seed plus i."""

Ends = list[tuple[int, float]]
"""Of each episode: after how many steps of all environments it ended, and its return."""


class EpisodeBook(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Writes the end of every episode into a list that all environments of a run share."""

    def __init__(self, env: gymnasium.Env[Any, Any], ends: Ends, num_envs: int) -> None:
        super().__init__(env)
        self._ends, self._num_envs = ends, num_envs
        self._steps, self._return = 0, 0.0

    def reset(self, **given: Any) -> Any:
        """Begin an episode."""
        self._return = 0.0
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        """Step, and note an end."""
        results = super().step(action)
        self._steps += 1
        self._return += float(results[1])
        if results[2] or results[3]:
            self._ends.append((self._steps * self._num_envs, self._return))
        return results


def train(report: Report, who: str, job: dict[str, Any], seed: int) -> None:
    """Train one side and report its curve; the whole life of a fresh process."""
    import torch

    torch.set_num_threads(1)  # runs share the cores, one each
    begun = time.perf_counter()
    settings, ends = LearningJob(**job), Ends()
    makers = [partial(_make, settings.env, ends, settings.n_envs) for _ in range(settings.n_envs)]
    SIDES[who](settings, makers, seed * SEEDS_APART)
    seconds = round(time.perf_counter() - begun, 1)
    report({"curve": curve(ends, settings.steps), "episodes": len(ends), "seconds": seconds})


def curve(ends: Ends, steps: int) -> list[dict[str, Any]]:
    """Return the mean return of every window; None where no episode ended in it."""
    last = np.array([step for step, _ in ends])
    returns = np.array([value for _, value in ends])
    points = []
    for k in range(1, WINDOWS + 1):
        inside = returns[(last > (k - 1) * steps / WINDOWS) & (last <= k * steps / WINDOWS)] if ends else returns
        mean = round(float(inside.mean()), 3) if len(inside) else None
        points.append({"step": k * steps // WINDOWS, "return": mean, "episodes": len(inside)})
    return points


def _make(env: str, ends: Ends, num_envs: int) -> EpisodeBook:
    return EpisodeBook(gymnasium.make(env), ends, num_envs)


def _ours(job: LearningJob, makers: Sequence[Callable[[], EpisodeBook]], seed: int) -> None:
    from garrison import learn, vector

    envs = vector.make(makers, backend="serial", autoreset_mode="same_step", copy=False)
    learn.train(our_settings(job, seed), envs)
    envs.close()


def _sb3(job: LearningJob, makers: Sequence[Callable[[], EpisodeBook]], seed: int) -> None:
    ppo = import_module("stable_baselines3").PPO
    vec_env = import_module("stable_baselines3.common.vec_env")
    envs = vec_env.DummyVecEnv(list(makers))
    if job.is_normalised:
        envs = vec_env.VecNormalize(envs, gamma=job.gamma)
    ppo("MlpPolicy", envs, **sb3_settings(job, seed)).learn(job.steps)
    envs.close()


SIDES: dict[str, Callable[[LearningJob, Sequence[Callable[[], EpisodeBook]], int], None]] = {
    GARRISON: _ours,
    SB3: _sb3,
}
