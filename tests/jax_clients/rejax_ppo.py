"""rejax's PPO on our environment, which it takes as an object."""

from importlib.metadata import version

import jax
import numpy as np
import rejax

from garrison.jaxsim import Cage2
from tests.jax_clients.reporting import report

LENGTH = 30
STEPS = 153_600

algorithm = rejax.PPO.create(
    env=Cage2(length=LENGTH),
    num_envs=128,
    num_steps=60,
    num_epochs=4,
    num_minibatches=8,
    learning_rate=0.001,
    total_timesteps=STEPS,
    eval_freq=STEPS // 4,
)
_, (lengths, returns) = jax.jit(algorithm.train)(jax.random.PRNGKey(0))
first, *_, last = np.asarray(returns).mean(axis=1).tolist()
wrong = "" if last > first / 2 else "it did not learn"  # returns are negative
if set(np.unique(lengths).tolist()) != {LENGTH}:
    wrong = "episodes have other lengths"
report("rejax", version("rejax"), f"{STEPS:,} steps of `PPO`, episodes of {LENGTH} steps", [first, last], wrong)
