"""Running statistics of observations: what they are, where they live, and what they do not touch."""

import numpy as np
import torch
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.network import make_network
from garrison.learn.nn.normaliser import LIMIT
from garrison.learn.nn.policy import Policy

SPACE = spaces.Dict(
    flags=spaces.MultiBinary(3),
    image=spaces.Box(0, 255, (8, 8, 1), np.uint8),
    place=spaces.Box(-np.inf, np.inf, (3,), np.float32),
    speed=spaces.Box(-1e9, 1e9, (1,), np.float64),
)
CONFIG = PolicyConfig(hidden=(8,), normalise_observations=True)
CPU = torch.device("cpu")


def stored(policy: Policy, place: np.ndarray, speed: np.ndarray) -> np.ndarray:
    rows = policy.observations.empty(len(place))
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (len(place), 8, 8, 1), np.uint8)
    flags = rng.integers(0, 2, (len(place), 3), np.int8)
    policy.observations.store({"flags": flags, "image": images, "place": place, "speed": speed}, rows)
    return rows


def test_statistics_are_those_of_all_observations_seen() -> None:
    policy = Policy(SPACE, spaces.Discrete(2), CONFIG)
    assert policy.normaliser is not None
    rng = np.random.default_rng(1)
    place, speed = rng.normal((5, -300, 0.1), (2, 40, 1e-3), (6000, 3)), rng.normal(1e6, 10, (6000, 1))
    for part in np.split(np.arange(6000), [10, 700, 5000]):  # also more than are read at once
        policy.normaliser.update(stored(policy, place[part], speed[part]))
    means, variances = policy.normaliser.means, policy.normaliser.variances
    np.testing.assert_allclose(means[0], place.mean(0), rtol=1e-4)
    np.testing.assert_allclose(variances[0], place.var(0), rtol=1e-3)
    np.testing.assert_allclose(means[1], speed.mean(0), rtol=1e-6)
    assert float(policy.normaliser.count) == 6000

    inputs = policy.observations.tensors(stored(policy, place, speed), np.arange(6000), CPU)
    scaled = policy.normaliser(inputs)
    assert torch.equal(scaled[0], inputs[0])
    assert torch.equal(scaled[1], inputs[1])
    assert abs(float(scaled[2].mean())) < 0.01
    assert abs(float(scaled[2].std()) - 1) < 0.01
    far = policy.observations.tensors(stored(policy, place[:1] + 1e6, speed[:1]), np.arange(1), CPU)
    assert policy.normaliser(far)[2].tolist() == [[LIMIT] * 3]


def test_statistics_are_part_of_the_weights_and_no_gradient_moves_them() -> None:
    policy = Policy(SPACE, spaces.Discrete(2), CONFIG)
    plain = Policy(SPACE, spaces.Discrete(2), PolicyConfig(hidden=(8,)))
    assert len(policy.flat) == len(plain.flat) + 2 * 4 + 1
    assert torch.equal(policy.flat[: len(plain.flat)], plain.flat)  # other settings do not change what is drawn
    assert policy.normaliser is not None
    policy.normaliser.update(stored(policy, np.full((5, 3), 7.0), np.ones((5, 1))))
    copy = Policy(SPACE, spaces.Discrete(2), CONFIG)
    copy.flat.copy_(policy.flat)
    assert copy.normaliser is not None
    assert copy.normaliser.means[0].tolist() == [7.0] * 3

    network = make_network(policy, 4, "auto", 1)
    assert network.compute == "autograd"
    inputs = policy.observations.tensors(stored(policy, np.ones((4, 3)), np.ones((4, 1))), np.arange(4), CPU)
    outputs, values, _ = policy(inputs)
    (outputs.sum() + values.sum()).backward()  # type: ignore[no-untyped-call]
    assert network.gradients[: len(plain.flat)].any()
    assert not network.gradients[len(plain.flat) :].any()
