"""Step a thousand CAGE-2 environments and look behind the curtain."""

import gymnasium
import numpy as np

import garrison  # noqa: F401 - registers garrison/CAGE2-v0

envs = gymnasium.make_vec("garrison/CAGE2-v0", num_envs=1000, red={"bline": 0.5, "meander": 0.5}, length=100)
observations, infos = envs.reset(seed=0)
for _ in range(100):
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
print(f"random defender: {infos['episode_stats']['r'].mean():.1f} points per episode")

truth = envs.unwrapped.truth  # read-only views: nothing is asked for, nothing is copied
print(f"hosts that Red holds privileged, on average: {np.mean(np.sum(truth.access == 2, axis=1)):.1f} of 13")
print(envs.unwrapped.true_table(0))
