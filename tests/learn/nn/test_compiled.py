"""The compiled network against plain torch: values, log-probabilities, loss and every gradient."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn import PPOConfig, ppo
from garrison.learn.nn import blas, compiled, network
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.loss import Terms
from garrison.learn.nn.plan import CACHE_LINE, CHUNK, LayerPlan, ThreadWorkspace, make_gradients
from garrison.learn.nn.policy import views
from garrison.learn.nn.sampling import make_streams
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import random_batch, random_policy

BITS = spaces.Box(0, 1, (52,), np.int8)
REALS = spaces.Box(-5.0, 5.0, (7,), np.float32)


CASES = {
    "separate": (BITS, spaces.Discrete(145), {}, False, {}),
    "shared": (BITS, spaces.Discrete(145), {"trunk": "shared"}, False, {}),
    "relu": (BITS, spaces.Discrete(145), {"activation": "relu"}, False, {}),
    "wide": (BITS, spaces.Discrete(145), {"hidden": (256, 128)}, False, {}),
    "one layer": (BITS, spaces.Discrete(145), {"hidden": (33,)}, False, {}),
    "linear": (BITS, spaces.Discrete(145), {"hidden": ()}, False, {}),
    "masks": (BITS, spaces.Discrete(145), {}, True, {}),
    "value clip": (BITS, spaces.Discrete(145), {}, False, {"value_clip": 0.1}),
    "tight clip": (BITS, spaces.Discrete(145), {}, False, {"clip": 0.01}),
    "no entropy": (BITS, spaces.Discrete(145), {}, False, {"entropy_coef": 0.0}),
    "heads": (REALS, spaces.MultiDiscrete([3, 1, 17]), {}, False, {"value_clip": 0.2}),
    "masked heads": (REALS, spaces.MultiDiscrete([3, 5]), {"trunk": "shared"}, True, {}),
    "index": (spaces.Discrete(9, start=3), spaces.Discrete(2), {}, False, {}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_gradient_equals_autograd(case: str, threads: int) -> None:
    observation_space, action_space, config, masked, changes = CASES[case]
    policy = random_policy(observation_space, action_space, **config)
    batch = random_batch(policy, 12, 100, masked)
    rows = np.random.default_rng(7).permutation(1200)[:1100]  # several chunks and uneven parts
    terms = Terms(**({"clip": 0.2, "value_clip": 0.0, "value_coef": 0.5, "entropy_coef": 0.05} | changes))
    terms = terms._replace(advantage_mean=0.3, advantage_scale=0.4)
    slow, fast = AutogradNetwork(policy, 100, 1), CompiledNetwork(policy, 100, threads)
    try:
        expected, actual = slow.gradient(batch, rows, terms), fast.gradient(batch, rows, terms)
    finally:
        fast.close()
    assert 0.05 < expected.clip_fraction < 0.95 or "tight clip" in case or observation_space is not BITS
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    names = [name for name, _ in policy.named_parameters()]
    for name, a, b in zip(names, views(fast.gradients, policy), views(slow.gradients, policy), strict=True):
        scale = float(b.abs().max()) + 1e-6
        np.testing.assert_allclose(a / scale, b / scale, rtol=0, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_acting_equals_autograd(case: str) -> None:
    observation_space, action_space, config, masked, _ = CASES[case]
    policy = random_policy(observation_space, action_space, **config)
    num_envs = 2 * CHUNK + 300
    observations = policy.observations
    stored = np.empty((num_envs, *observations.shape), observations.dtype)
    observation_space.seed(1)
    observations.store(np.stack([observation_space.sample() for _ in range(num_envs)]), stored)
    masks = (
        np.random.default_rng(1).random((num_envs, policy.actions.mask_size)) < 0.5 if masked else np.ones((0, 0), bool)
    )
    if masked:
        masks[:, policy.actions.offsets[:-1]] = True
    results = []
    for computed in (AutogradNetwork(policy, num_envs, 1), CompiledNetwork(policy, num_envs, 2)):
        choices = np.empty((num_envs, *policy.actions.shape), np.int32)
        log_probs, values = np.empty((2, num_envs), np.float32)
        computed.act(stored, np.zeros(num_envs, bool), masks, make_streams(0, num_envs), choices, log_probs, values)
        np.testing.assert_allclose(computed.values(stored, np.arange(num_envs)), values, atol=2e-6)
        computed.close()
        results.append((choices, log_probs, values))
    same = (results[0][0] == results[1][0]).all(axis=1)
    assert same.mean() > 0.999  # a draw may fall on the other side of a border by rounding
    np.testing.assert_allclose(results[0][1][same], results[1][1][same], atol=5e-6)
    np.testing.assert_allclose(results[0][2], results[1][2], atol=5e-6)


@pytest.mark.parametrize("place", range(len(blas._places())))
def test_every_blas_library_gives_the_same_products(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another platform's torch may hide its BLAS; then numpy's is taken."""
    sgemm = blas._load(*blas._places()[place])
    if sgemm is None:
        pytest.skip("this library is not here")
    monkeypatch.setattr(compiled, "find_sgemm", lambda: sgemm)
    policy = random_policy(BITS, spaces.Discrete(145))
    batch = random_batch(policy, 2, 300, masked=False)
    terms, rows = Terms(0.2, 0.0, 0.5, 0.01), np.arange(600)
    slow, fast = AutogradNetwork(policy, 300, 1), CompiledNetwork(policy, 300, 2)
    slow.gradient(batch, rows, terms)
    fast.gradient(batch, rows, terms)
    fast.close()
    torch.testing.assert_close(fast.gradients, slow.gradients, rtol=0, atol=1e-5)


def test_without_a_blas_library_auto_means_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "find_sgemm", lambda: None)
    config = PPOConfig(steps=100, rollout=5, threads=1)
    assert ppo.train(config, BitsEnv(4)).compute == "autograd"
    with pytest.raises(UserError, match="a BLAS library"):
        ppo.train(PPOConfig(steps=100, rollout=5, compute="compiled"), BitsEnv(4))


def test_nan_weights_show_in_the_loss() -> None:
    policy = random_policy(BITS, spaces.Discrete(145))
    batch = random_batch(policy, 2, 300, masked=False)
    policy.action_head.weight.data[7, 3] = float("nan")
    network = CompiledNetwork(policy, 300, 1)
    means = network.gradient(batch, np.arange(600), Terms(0.2, 0.0, 0.5, 0.01))
    network.close()
    assert np.isnan(means.policy_loss)
    assert np.isnan(means.entropy)
    assert np.isfinite(means.value_loss)


def test_memory_begins_at_a_cache_line_whatever_lies_before_it() -> None:
    """Measured: the value head's products have other bits at other addresses modulo 16 bytes; others may need more."""
    policy = random_policy(REALS, spaces.MultiDiscrete([3, 5]))
    memory = []
    for size in range(1, 40):
        memory.append(np.empty(size, np.uint8))
        workspace = ThreadWorkspace(policy.observations, LayerPlan(policy), make_gradients(1, len(policy.flat))[0], 2)
        assert {array.ctypes.data % CACHE_LINE for array in workspace.scratch if array.size} == {0}
        memory += workspace.scratch
