"""An actor: environments, a policy of its own, and the loop that turns empty buffers into trajectories."""

from dataclasses import dataclass
from typing import Any

from gymnasium.vector import VectorEnv

from garrison.learn.actors.transport import Buffer, Desk, Layout, Report
from garrison.learn.collector import Collector
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import EnvFactory
from garrison.learn.nn.network import make_network
from garrison.learn.nn.policy import Policy
from garrison.learn.stages import ACTOR
from garrison.learn.stopwatch import Stopwatch


@dataclass(frozen=True)
class Recipe:
    """Everything an actor is made from; sent to other processes."""

    make_envs: EnvFactory
    num_envs: int
    policy: PolicyConfig
    action_masks: bool
    compute: str
    threads: int = 1


@dataclass(frozen=True)
class Plan:
    """What a transport starts its actors from."""

    recipe: Recipe
    layout: Layout
    actors: int
    buffers: int
    """For each actor."""
    timeout: float
    """Seconds without a trajectory, although it has a buffer to fill, after which an actor counts as stuck."""
    seed: int
    """Of the first actor; see `actor_seed`."""


class Actor:
    """Acts with the newest weights that its desk has; the same loop in any process, behind any transport."""

    def __init__(self, recipe: Recipe, seed: int, stages: tuple[str, ...] = ACTOR) -> None:
        self.envs = recipe.make_envs(recipe.num_envs)
        try:
            self.policy = policy_of(self.envs, recipe.policy)
            self.network = make_network(self.policy, recipe.num_envs, recipe.compute, recipe.threads)
            self.collector = Collector(self.envs, self.network, seed, recipe.action_masks)
        except BaseException:
            self.envs.close()
            raise
        self.watch = Stopwatch(stages)
        self._seed = seed

    def run(self, desk: Desk) -> None:
        """Begin new episodes and fill one buffer after the other until the desk has none left to give."""
        self.collector.reset(self._seed)
        self.watch.credit({})  # what it took to start belongs to no trajectory
        while (buffer := desk.borrow()) is not None:
            self.watch.mark("wait")
            version = desk.refresh(self.policy.flat.numpy())
            desk.deliver(buffer, self.fill(buffer, version))

    def fill(self, buffer: Buffer, version: int) -> Report:
        """Act until the buffer is full."""
        buffer.memory[:] = self.network.recurrent_state.numpy()
        self.watch.mark("copy")
        returns, lengths = self.collector.collect(buffer.rollout, self.watch)
        return Report(version, returns, lengths, self.watch.lap())

    def close(self) -> None:
        """Close the environments and end the network's threads."""
        self.network.close()
        self.envs.close()


def policy_of(envs: VectorEnv[Any, Any, Any], config: PolicyConfig, seed: int = 0) -> Policy:
    """Return a policy for the spaces of some environments."""
    return Policy(envs.single_observation_space, envs.single_action_space, config, seed)


def actor_seed(seed: int, place: int, num_envs: int) -> int:
    """Return the first seed of the environments in the `place`-th actor to be started; no two places overlap.

    A vector environment seeds its environment i with the given seed plus i.
    """
    return (seed + place * num_envs) % 2**63
