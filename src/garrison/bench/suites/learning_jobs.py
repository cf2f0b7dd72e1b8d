"""What is learned in `garrison bench learning`: settings written once, in Stable-Baselines3's words, for both sides.

The settings are those of Stable-Baselines3's own zoo where both sides can have them, else SB3's defaults. Both sides
have two networks of 64x64 tanh with orthogonal weights, Adam with epsilon 1e-5, advantages normalised by
minibatch, a constant range of clipping, and Gaussian actions whose deviation starts at 1 and ignores the state.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.learn import PPOConfig

QUICK = 20
"""A quick look has so many times fewer steps."""


@dataclass(frozen=True)
class LearningJob:
    """An environment and PPO's settings for it, named as SB3 names them."""

    env: str
    steps: int
    n_envs: int
    n_steps: int
    batch_size: int
    n_epochs: int
    learning_rate: float
    gamma: float
    gae_lambda: float
    is_annealed: bool = False
    """Whether the learning rate falls to 0 over the run."""
    is_normalised: bool = False
    """Whether observations and returns are normalised: VecNormalize there, our settings of that name here."""
    clip_range: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5

    def shortened(self) -> "LearningJob":
        """Return the job of a quick look."""
        return replace(self, steps=self.steps // QUICK)


JOBS: dict[str, LearningJob] = {
    job.env: job
    for job in (
        # The zoo's, but for its falling range of clipping.
        LearningJob("CartPole-v1", 100_000, 8, 32, 256, 20, 1e-3, 0.98, 0.8, is_annealed=True),
        # The zoo's, but for its state-dependent exploration.
        LearningJob("Pendulum-v1", 100_000, 4, 1024, 64, 10, 1e-3, 0.9, 0.95),
        # SB3's defaults on normalised observations and returns: the zoo's own have another network.
        LearningJob("Hopper-v5", 200_000, 1, 2048, 64, 10, 3e-4, 0.99, 0.95, is_normalised=True),
    )
}


def our_settings(job: LearningJob, seed: int) -> "PPOConfig":
    """Return the settings of our PPO."""
    from garrison.learn import PolicyConfig, PPOConfig

    return PPOConfig(
        steps=job.steps,
        rollout=job.n_steps,
        minibatches=job.n_envs * job.n_steps // job.batch_size,
        epochs=job.n_epochs,
        learning_rate=job.learning_rate,
        learning_rate_schedule="linear" if job.is_annealed else "constant",
        gamma=job.gamma,
        gae_lambda=job.gae_lambda,
        clip=job.clip_range,
        entropy_coef=job.ent_coef,
        value_coef=2 * job.vf_coef,  # our value loss is half of the squared error, SB3's all of it
        max_grad_norm=job.max_grad_norm,
        normalise_returns=job.is_normalised,
        seed=seed,
        threads=1,
        policy=PolicyConfig(normalise_observations=job.is_normalised),
    )


def sb3_settings(job: LearningJob, seed: int) -> dict[str, Any]:
    """Return the arguments of SB3's PPO; whatever is not named here has the same default on both sides."""

    def falling(remaining: float) -> float:
        return job.learning_rate * remaining

    return {
        "n_steps": job.n_steps,
        "batch_size": job.batch_size,
        "n_epochs": job.n_epochs,
        "learning_rate": falling if job.is_annealed else job.learning_rate,
        "gamma": job.gamma,
        "gae_lambda": job.gae_lambda,
        "clip_range": job.clip_range,
        "ent_coef": job.ent_coef,
        "vf_coef": job.vf_coef,
        "max_grad_norm": job.max_grad_norm,
        "seed": seed,
        "device": "cpu",
    }
