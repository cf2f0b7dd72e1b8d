"""A plain score for any environment: whole episodes, their mean return and its confidence."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from garrison.errors import UserError
from garrison.learn.envs import TrainableEnvs
from garrison.tasks.task import NotScored, Task
from garrison.tasks.video import filmed

if TYPE_CHECKING:
    from garrison.agents.spaces import SpaceAgent

MOST_ENVS = 16
LONGEST = 27_000
"""Steps of one episode, at most: what Atari games may take. An environment may have no end of its own."""


@dataclass(frozen=True)
class EpisodeScore:
    """What an agent got in each episode."""

    agent: str
    env: str
    seed: int
    returns: tuple[float, ...]
    lengths: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(np.mean(self.returns))

    @property
    def ci95(self) -> float:
        """Half the width of the mean's 95 % confidence interval."""
        return 1.96 * float(np.std(self.returns, ddof=1)) / math.sqrt(len(self.returns))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `--json` prints it."""
        return {
            "agent": self.agent,
            "env": self.env,
            "episodes": len(self.returns),
            "seed": self.seed,
            "mean": round(self.mean, 6),
            "ci95": round(self.ci95, 6),
            "lowest": min(self.returns),
            "highest": max(self.returns),
            "mean_length": float(np.mean(self.lengths)),
            "returns": list(self.returns),
            "lengths": list(self.lengths),
        }

    def to_text(self) -> str:
        """Return the result for people."""
        return (
            f"{self.agent} on {self.env}, {len(self.returns)} episodes, seed {self.seed}\n\n"
            f"mean return {self.mean:.2f} ± {self.ci95:.2f}   (95 % confidence)\n"
            f"from {min(self.returns):.2f} to {max(self.returns):.2f}, {np.mean(self.lengths):.1f} steps an episode"
        )


def play_episodes(
    agent: "SpaceAgent",
    task: Task,
    episodes: int,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
    video: Path | None = None,
) -> EpisodeScore:
    """Play whole episodes in environments of a task; raise `NotScored` if one does not end.

    Every environment plays a share that is fixed before: counting whichever episodes end first would prefer short ones.

    Args:
        agent: who plays.
        task: where.
        episodes: how many in all.
        seed: decides every draw.
        say: is told how many have been played.
        video: a folder for films of them; then one environment plays them all.
    """
    if episodes < 2:
        raise UserError(f"at least 2 episodes are needed to estimate the error; got {episodes}.")
    if seed < 0:
        raise UserError(f"seed must be 0 or more; got {seed}.")
    task = task.as_scored()
    num_envs = 1 if video else min(episodes, MOST_ENVS)
    left = np.full(num_envs, episodes // num_envs)
    left[: episodes % num_envs] += 1
    envs = TrainableEnvs(filmed(task, video, episodes) if video else _at_hand(task).make_envs(num_envs))
    returns: list[list[float]] = [[] for _ in range(num_envs)]
    lengths: list[list[int]] = [[] for _ in range(num_envs)]
    totals, steps = np.zeros(num_envs), np.zeros(num_envs, np.int64)
    try:
        agent.check_spaces(envs.envs)
        observations, infos = envs.reset(seed=seed)
        agent.begin(num_envs, seed)
        while left.any():
            actions = agent.act(observations, envs.masks(infos) if agent.masked else None)
            observations, rewards, terminations, truncations, infos = envs.step(actions)
            totals += rewards
            steps += 1
            ended = np.logical_or(terminations, truncations)
            agent.reset(ended)
            for i in np.flatnonzero(ended & (left > 0)):
                returns[i].append(float(totals[i]))
                lengths[i].append(int(steps[i]))
                left[i] -= 1
                say(f"{episodes - left.sum()} of {episodes} episodes")
            totals[ended], steps[ended] = 0.0, 0
            if steps[left > 0].max(initial=0) >= LONGEST:
                raise NotScored(
                    f"there is no score: an episode of {task.describe()} had not ended after {LONGEST:,} steps.",
                    hint="Limit its episodes: gymnasium.make takes max_episode_steps, here --env-args "
                    "max_episode_steps=1000.",
                )
    finally:
        envs.envs.close()
    return EpisodeScore(agent.name, task.describe(), seed, tuple(chain(*returns)), tuple(chain(*lengths)))


def _at_hand(task: Task) -> Task:
    """Return the task with its environments on this machine: a few episodes are not worth a cluster."""
    return replace(task, config=replace(task.config, backend="auto")) if task.config.backend == "ray" else task
