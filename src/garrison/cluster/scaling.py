"""What more nodes would do: a cost model of IMPALA on Ray whose every input is measured by `garrison bench cluster`.

Four things can be the bottleneck: the actors, the learner, the learner's network, and the board that says where the
weights lie. Each has a ceiling in steps a second; the lowest one is what the cluster does. Nothing here waits in line
for anything else, so this is a bound, and the bench says how near to it a real run comes.
"""

from dataclasses import dataclass

ADVICE = {
    "actors": "more nodes, or more CPUs a node: the learner waits for data",
    "learner": "a GPU or more threads for the learner, fewer epochs, or a larger batch; more nodes do not help",
    "network in": "fewer bytes a step (observations as bits, no action masks), or several learners near their actors",
    "network out": "longer trajectories, so that weights are fetched more rarely, or a smaller network",
    "board": "longer rollouts or more environments an actor, so that there are fewer trajectories",
}
"""What to change when something is the bottleneck."""


@dataclass(frozen=True)
class Costs:
    """What was measured, and what the cluster is like."""

    actor_rate: float
    """Steps a second of one actor that never waits."""
    steps_per_trajectory: int
    bytes_per_step: float
    fetch_seconds: float
    """For an actor to see whether there are newer weights, and to copy them, once a trajectory."""
    handle_seconds: float
    """For the learner to take in a trajectory and to ask for the next."""
    learn_seconds: float
    """For the learner to learn from one step."""
    publish_seconds: float
    """To put a version into the object store."""
    board_seconds: float
    """For the board to answer one actor."""
    weights_bytes: int
    trajectories_per_update: int = 1
    actors_per_node: int = 1
    network: float = 1.25e9
    """Bytes a second of the learner's network, each way; 10 Gbit/s by default."""
    buffers: int = 2
    """Trajectories that each actor may have under way."""


@dataclass(frozen=True)
class Prediction:
    """What a number of nodes would do."""

    nodes: int
    rate: float
    """Steps a second."""
    limit: str
    """What the bottleneck is: a key of `ADVICE`."""
    efficiency: float
    """The rate as a share of what the actors could do if nothing else were slower."""
    lag: float
    """The mean age of a trajectory's policy, in versions, when the learner is the bottleneck; less otherwise."""
    ceilings: dict[str, float]
    """Steps a second that each part could do."""

    @property
    def advice(self) -> str:
        """What to change to go beyond."""
        return ADVICE[self.limit]


def predict(costs: Costs, nodes: int) -> Prediction:
    """Predict what `nodes` nodes would do, and why not more.

    >>> costs = Costs(1e5, 1000, 100.0, 1e-3, 1e-3, 1e-6, 1e-3, 1e-4, 400_000)
    >>> [predict(costs, n).limit for n in (1, 100)]
    ['actors', 'learner']
    """
    actors = nodes * costs.actors_per_node
    steps = costs.steps_per_trajectory
    update = steps * costs.trajectories_per_update
    overhead = costs.handle_seconds / steps + costs.publish_seconds / update
    ceilings = {
        "actors": actors * steps / (steps / costs.actor_rate + costs.fetch_seconds),
        "learner": 1.0 / (costs.learn_seconds + overhead),
        "network in": costs.network / costs.bytes_per_step,
        # Weights are fetched when a trajectory begins, so not more often than trajectories arrive, on any number of
        # nodes. The worst case: all come from the learner's node, none from a neighbour's copy.
        "network out": costs.network * update / (costs.weights_bytes * min(costs.trajectories_per_update, nodes)),
        "board": steps / costs.board_seconds,
    }
    limit = min(ceilings, key=lambda name: ceilings[name])
    rate = ceilings[limit]
    lag = actors * costs.buffers / costs.trajectories_per_update
    return Prediction(nodes, rate, limit, rate / ceilings["actors"], lag, ceilings)


def saturation(costs: Costs) -> int:
    """Return the number of nodes from which on another one brings nothing."""
    high = 1
    while predict(costs, high).limit == "actors":
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if predict(costs, middle).limit == "actors" else (low, middle)
    return high
