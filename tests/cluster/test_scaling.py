"""The cost model of a cluster: each part becomes the bottleneck when it is made slow, and only then."""

from dataclasses import replace

import pytest

from garrison.cluster.scaling import ADVICE, Costs, predict, saturation

COSTS = Costs(
    actor_rate=10_000.0,
    steps_per_trajectory=1000,
    bytes_per_step=50.0,
    fetch_seconds=0.0,
    handle_seconds=0.001,
    learn_seconds=1e-6,
    publish_seconds=0.001,
    board_seconds=1e-4,
    weights_bytes=100_000,
)


def test_a_few_nodes_add_up() -> None:
    assert predict(COSTS, 1).rate == 10_000
    ten = predict(COSTS, 10)
    assert (ten.rate, ten.limit, ten.efficiency) == (100_000, "actors", 1.0)


def test_the_time_to_fetch_weights_is_the_actors() -> None:
    assert predict(replace(COSTS, fetch_seconds=0.1), 10).rate == pytest.approx(50_000)


def test_the_learner_is_a_ceiling() -> None:
    many = predict(COSTS, 1000)
    # 1 us to learn from a step, 1 ms to take in a thousand, 1 ms to publish after them
    assert many.rate == pytest.approx(1 / 3e-6)
    assert many.limit == "learner"
    assert many.efficiency == pytest.approx(many.rate / 10_000_000)
    assert many.lag == 2000
    assert saturation(COSTS) == 34
    assert predict(COSTS, 33).limit == "actors"
    assert predict(COSTS, 34).limit == "learner"


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({"network": 1e6}, "network out"),
        ({"network": 1e6, "trajectories_per_update": 10_000}, "network in"),
        ({"board_seconds": 0.1}, "board"),
        ({"learn_seconds": 1e-3}, "learner"),
        ({"actor_rate": 1.0}, "actors"),
    ],
)
def test_each_part_can_be_the_bottleneck(change: dict[str, float], limit: str) -> None:
    prediction = predict(replace(COSTS, **change), 100)
    assert prediction.limit == limit
    assert prediction.rate == prediction.ceilings[limit] == min(prediction.ceilings.values())
    assert prediction.advice == ADVICE[limit]


def test_saturation_at_once() -> None:
    assert saturation(replace(COSTS, learn_seconds=1.0)) == 1
