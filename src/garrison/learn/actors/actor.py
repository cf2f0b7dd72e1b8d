"""An actor: environments, a policy of its own, and the loop that turns empty buffers into trajectories."""

from dataclasses import dataclass

from garrison.learn.actors.transport import ActorPort, ActorReport, Buffer, Layout
from garrison.learn.collectors import make_collector
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import EnvFactory, policy_of
from garrison.learn.nn.network import make_network
from garrison.learn.stages import ACTOR
from garrison.learn.stopwatch import Stopwatch


@dataclass(frozen=True)
class ActorSpec:
    """Everything an actor is made from; sent to other processes."""

    make_envs: EnvFactory
    num_envs: int
    policy: PolicyConfig
    action_masks: bool
    compute: str
    threads: int = 1


@dataclass(frozen=True)
class ActorPlan:
    """What a transport starts its actors from."""

    spec: ActorSpec
    layout: Layout
    actors: int
    buffers: int
    """For each actor."""
    timeout: float
    """Seconds without a trajectory, although it has a buffer to fill, after which an actor counts as stuck."""
    seed: int
    """Of the first actor; see `actor_seed`."""


class Actor:
    """Acts with the newest weights that its port has; the same loop in any process, behind any transport."""

    def __init__(self, spec: ActorSpec, seed: int, stages: tuple[str, ...] = ACTOR) -> None:
        self.envs = spec.make_envs(spec.num_envs)
        try:
            self.policy = policy_of(self.envs, spec.policy)
            self.network = make_network(self.policy, spec.num_envs, spec.compute, spec.threads)
            self.collector = make_collector(self.envs, self.network, seed, spec.action_masks)
        except BaseException:
            self.envs.close()
            raise
        self.watch = Stopwatch(stages)
        self._seed = seed

    def run(self, port: ActorPort) -> None:
        """Begin new episodes and fill one buffer after the other until the port has none left to give."""
        self.collector.reset(self._seed)
        self.watch.credit({})  # what it took to start belongs to no trajectory
        while (buffer := port.borrow()) is not None:
            self.watch.mark("wait")
            version = port.refresh(self.policy.flat.numpy())
            port.deliver(buffer, self.fill(buffer, version))

    def fill(self, buffer: Buffer, version: int) -> ActorReport:
        """Act until the buffer is full."""
        buffer.memory[:] = self.network.recurrent_state.numpy()
        self.watch.mark("copy")
        returns, lengths = self.collector.collect(buffer.rollout, self.watch)
        return ActorReport(version, returns, lengths, self.watch.lap())

    def close(self) -> None:
        """Close the environments and end the network's threads."""
        self.network.close()
        self.envs.close()


def actor_seed(seed: int, place: int, num_envs: int) -> int:
    """Return the first seed of the environments in the `place`-th actor to be started; no two places overlap.

    A vector environment seeds its environment i with the given seed plus i.
    """
    return (seed + place * num_envs) % 2**63
