"""The users' own job: PPO on Procgen's CoinRun, with the settings and the network of their project."""

from functools import partial
from typing import TYPE_CHECKING, Any

from garrison.bench.suites.training_envs import Job

if TYPE_CHECKING:
    from garrison.learn import PolicyConfig

ENV_ID = "procgen-coinrun-v0"
JOB: Job = {"num_envs": 32, "rollout": 128, "minibatches": 4, "epochs": 4}
"""4,096 frames per update, in minibatches of 1,024."""
LEARNING_RATE, GAMMA = 5e-4, 0.999
HEAD = 512
"""Width of the dense layer of the policy and of the value, each, behind the convolutions that they share."""
NUM_ACTIONS = 15
PICTURE = (64, 64, 3)


def frames(job: Job) -> int:
    """Return the frames of an update."""
    return job["num_envs"] * job["rollout"]


def minibatch(job: Job) -> int:
    """Return the frames of a minibatch."""
    return frames(job) // job["minibatches"]


def our_policy() -> "PolicyConfig":
    """Return the network as our settings."""
    from garrison.learn import PolicyConfig

    return PolicyConfig(hidden=(HEAD,), activation="relu", trunk="encoder", encoder="nature")


def coinrun(num_envs: int, backend: str, workers: int | None = None) -> Any:
    """Return CoinRun behind a backend of ours."""
    from garrison import vector

    return vector.make(ENV_ID, num_envs, backend, workers=workers, autoreset_mode="same_step", copy=False)


def coinrun_native() -> Any:
    """Return what makes Procgen's own batch in an actor."""
    return partial(coinrun, backend="native")


def one_coinrun() -> Any:
    """Return a single game, as peers without a batch step it."""
    from garrison.games.procgen import ProcgenEnv

    return ProcgenEnv("coinrun")
