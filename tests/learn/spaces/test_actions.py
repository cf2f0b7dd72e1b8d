"""Every action space: what is drawn lies in it, has the probability that is computed later, and is learned from."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import batch_space, iterate
from torch import distributions

from garrison import vector
from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.network import make_network
from garrison.learn.nn.sampling import make_streams
from garrison.learn.spaces.actions import ActionDistribution
from garrison.learn.spaces.categorical import Categorical
from garrison.learn.spaces.registry import action_distribution
from tests.helpers.learning import random_policy
from tests.helpers.steering_env import PARTS, StrictEnv

NO_MASKS = np.ones((0, 0), np.bool_)
UNEVEN = spaces.Box(np.array([-2.0, 0.0, -np.inf]), np.array([0.5, np.inf, np.inf]), dtype=np.float64)
SPACES: dict[str, spaces.Space[Any]] = {
    "discrete": spaces.Discrete(5, start=-2),
    "multi discrete": spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 0], [0, 7]])),
    "small multi discrete": spaces.MultiDiscrete([3, 4], dtype=np.int8),
    "binary": spaces.MultiBinary((2, 3)),
    "whole numbers": spaces.Box(np.array([-3, 0]), np.array([4, 255]), dtype=np.int16),
    "bytes": spaces.Box(0, 3, (2, 2), np.uint8),
    "box": spaces.Box(-1.0, 1.0, (3,), np.float32),
    "grid": spaces.Box(-0.1, 0.1, (2, 2), np.float32),
    "one number": spaces.Box(0.0, 1.0, (), np.float32),
    "halves": spaces.Box(-0.1, 0.3, (2,), np.float16),
    "uneven": UNEVEN,
    "parts": PARTS,
    "pair": spaces.Tuple((spaces.Box(-1, 1, (2,)), spaces.Discrete(2))),
    "nested": spaces.Dict(deep=spaces.Dict(a=spaces.Tuple((PARTS, spaces.Discrete(2))), b=spaces.Box(-1, 1, (1,)))),
}
SQUASHED = PolicyConfig(continuous_actions="squashed")
FINITE = spaces.Box(np.array([-2.0, 0.0]), np.array([0.5, 3.0]), dtype=np.float64)
CASES = {
    **{name: (space, PolicyConfig()) for name, space in SPACES.items()},
    **{f"squashed {name}": (SPACES[name], SQUASHED) for name in ("box", "grid", "halves", "pair")},
    "squashed uneven": (FINITE, SQUASHED),
}


def outputs_for(actions: ActionDistribution, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.7, (count, actions.outputs)).astype(np.float32)


def drawn(actions: ActionDistribution, outputs: np.ndarray, masks: np.ndarray = NO_MASKS, seed: int = 1) -> Any:
    choices = np.empty((len(outputs), *actions.shape), actions.dtype)
    log_probs = np.empty(len(outputs), np.float32)
    actions.draw(outputs.copy(), masks, make_streams(seed, len(outputs)), choices, log_probs)
    return choices, log_probs


@pytest.mark.parametrize("name", CASES)
def test_what_is_drawn_lies_in_the_space_and_has_the_log_probability_that_is_computed_later(name: str) -> None:
    space, config = CASES[name]
    actions = action_distribution(space, config)
    outputs = outputs_for(actions, 300)
    choices, log_probs = drawn(actions, outputs)
    batch = actions.to_env(choices)
    singles = list(vector_iterate(space, batch))
    assert len(singles) == 300
    assert all(space.contains(each) for each in singles)
    mode = np.empty_like(choices)
    actions.mode(outputs.copy(), NO_MASKS, mode)
    assert all(space.contains(each) for each in vector_iterate(space, actions.to_env(mode)))

    assessed = np.empty_like(log_probs)
    actions.assess(outputs.copy(), NO_MASKS, choices, assessed)
    np.testing.assert_allclose(assessed, log_probs, atol=3e-5)
    evaluated, entropies = actions.evaluate(torch.from_numpy(outputs), torch.from_numpy(choices), None)
    np.testing.assert_allclose(evaluated.numpy(), log_probs, atol=3e-5)
    assert evaluated.shape == entropies.shape == (300,)
    assert np.isfinite(entropies.numpy()).all()


def vector_iterate(space: spaces.Space[Any], batch: Any) -> Any:
    """As Gymnasium's own vector environments take a batch of actions apart."""
    for each in iterate(batch_space(space, 300), batch):
        yield np.asarray(each) if isinstance(each, np.floating) else each  # a Box without axes warns of plain numbers


@pytest.mark.parametrize("name", CASES)
def test_the_entropy_is_the_mean_of_the_negative_log_probability(name: str) -> None:
    space, config = CASES[name]
    actions = action_distribution(space, config)
    outputs = np.repeat(outputs_for(actions, 1), 20_000, axis=0)
    _, log_probs = drawn(actions, outputs)
    one = torch.from_numpy(outputs[:1])
    entropy = float(actions.evaluate(one, torch.from_numpy(drawn(actions, outputs[:1])[0]), None)[1])
    assert -log_probs.mean() == pytest.approx(entropy, abs=float(5 * log_probs.std() / math.sqrt(20_000) + 1e-4))


@pytest.mark.parametrize("name", CASES)
def test_an_environment_draws_the_same_in_any_batch(name: str) -> None:
    space, config = CASES[name]
    actions = action_distribution(space, config)
    outputs = outputs_for(actions, 20)

    def run(parts: list[slice]) -> np.ndarray:
        streams = make_streams(5, 20)
        chosen = np.empty((2, 20, *actions.shape), actions.dtype)
        for t in range(2):
            for part in parts:
                own = np.empty((len(streams[part]), *actions.shape), actions.dtype)
                log_probs = np.empty(len(own), np.float32)
                actions.draw(outputs[part].copy(), NO_MASKS, streams[part], own, log_probs)
                chosen[t, part] = own
        return chosen

    whole = run([slice(0, 20)])
    assert np.array_equal(whole, run([slice(13, 20), slice(0, 13)]))
    assert not np.array_equal(whole[0], whole[1])


@pytest.mark.parametrize("name", ["box", "squashed uneven", "pair"])
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    space, config = CASES[name]
    actions = action_distribution(space, config)
    outputs = outputs_for(actions, 3)
    choices = torch.from_numpy(drawn(actions, outputs)[0])
    exact = torch.from_numpy(outputs).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda given: actions.evaluate(given, choices, None), exact, fast_mode=True)


def test_continuous_actions_are_torchs_normal_distribution() -> None:
    actions = action_distribution(UNEVEN)
    assert (actions.outputs, actions.free_outputs, actions.mask_size) == (6, 3, 0)
    outputs = outputs_for(actions, 50_000)
    outputs[:] = outputs[0]
    choices, log_probs = drawn(actions, outputs)
    means, log_stds = np.split(outputs[0], 2)
    np.testing.assert_allclose(choices.mean(0), means, atol=0.05)
    np.testing.assert_allclose(choices.std(0), np.exp(log_stds), rtol=0.02)
    assert np.abs(np.corrcoef(choices.T) - np.eye(3)).max() < 0.02  # a pair shares two draws, and is independent
    scaled = np.sort(((choices - means) / np.exp(log_stds)).reshape(-1))
    quantiles = distributions.Normal(0.0, 1.0).icdf(torch.tensor([0.001, 0.1, 0.25, 0.75, 0.9, 0.999])).numpy()
    found = scaled[(np.array([0.001, 0.1, 0.25, 0.75, 0.9, 0.999]) * len(scaled)).astype(int)]
    np.testing.assert_allclose(found, quantiles, atol=0.12)
    theirs = distributions.Normal(torch.from_numpy(means), torch.from_numpy(np.exp(log_stds)))
    np.testing.assert_allclose(log_probs, theirs.log_prob(torch.from_numpy(choices)).sum(1).numpy(), atol=2e-5)
    _, entropy = actions.evaluate(torch.from_numpy(outputs[:1]), torch.from_numpy(choices[:1]), None)
    assert float(entropy) == pytest.approx(float(theirs.entropy().sum()), abs=1e-5)


def test_what_leaves_a_box_is_clipped_and_stored_as_it_was_drawn() -> None:
    actions = action_distribution(UNEVEN)
    choices = np.array([[-9.0, -9.0, -9.0], [9.0, 9.0, 9.0], [0.1, 0.1, 0.1]], np.float32)
    assert actions.to_env(choices).tolist() == [[-2, 0, -9], [0.5, 9, 9], [float(np.float32(0.1))] * 3]
    assert actions.to_env(choices).dtype == np.float64
    assert choices[0, 0] == -9
    largest = action_distribution(spaces.Box(-np.inf, np.inf, (1,), np.float16)).to_env(np.full((1, 1), 1e30, "f4"))
    assert largest.dtype == np.float16
    assert np.isfinite(largest).all()


def test_squashed_actions_are_torchs_transformed_distribution() -> None:
    actions = action_distribution(FINITE, SQUASHED)
    outputs = outputs_for(actions, 2000)
    choices, log_probs = drawn(actions, outputs)
    means, stds = (torch.from_numpy(x).double() for x in (outputs[:, :2], np.exp(outputs[:, 2:])))
    half, middle = torch.tensor([1.25, 1.5]).double(), torch.tensor([-0.75, 1.5]).double()
    steps = [distributions.TanhTransform(), distributions.AffineTransform(middle, half)]
    theirs: Any = distributions.TransformedDistribution(distributions.Normal(means, stds), steps)
    found = torch.from_numpy(actions.to_env(choices))
    inside = (torch.from_numpy(choices).abs() < 4).all(1)  # beyond, torch's inverse of tanh has no digits left
    np.testing.assert_allclose(log_probs[inside], theirs.log_prob(found).sum(1)[inside].numpy(), atol=2e-3)
    assert inside.float().mean() > 0.9
    far = np.array([[-50.0, 50.0]], np.float32)
    assert actions.to_env(far).tolist() == [[-2.0, 3.0]]
    log_prob, _ = actions.evaluate(torch.from_numpy(outputs[:1]), torch.from_numpy(far), None)
    assert np.isfinite(float(log_prob))


@pytest.mark.parametrize("space", [UNEVEN, spaces.Box(0.0, np.array([1.0, 0.0], np.float32), (2,))])
def test_squashing_needs_bounds(space: spaces.Box) -> None:
    with pytest.raises(UserError, match="'squashed' needs bounds"):
        action_distribution(space, SQUASHED)


def test_switches_are_compiled_like_other_choices() -> None:
    assert isinstance(action_distribution(spaces.MultiBinary(3)), Categorical)
    policy = random_policy(StrictEnv.observation_space, spaces.MultiBinary((2, 2)), hidden=(8,))
    network = make_network(policy, 4, "auto", 1)
    assert network.compute == "compiled"
    network.close()


def test_a_policy_starts_with_the_deviation_that_is_asked_for() -> None:
    config = {"hidden": (8,), "log_std_init": -1.5}
    space = spaces.Tuple((spaces.Discrete(2), spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (1,))))
    actions = action_distribution(space, PolicyConfig(**config))
    assert actions.initial_free_outputs().tolist() == [-1.5] * 3
    with pytest.raises(UserError, match="log_std_init cannot be 9"):
        PolicyConfig(log_std_init=9)
    with pytest.raises(UserError, match="did you mean 'squashed'"):
        PolicyConfig(continuous_actions="squash")


def test_only_what_cannot_be_compiled_says_so() -> None:
    policy = random_policy(StrictEnv.observation_space, SPACES["box"], hidden=(8,))
    with pytest.raises(UserError, match="actions that are Discrete, MultiDiscrete or MultiBinary"):
        make_network(policy, 4, "compiled", 1)
    assert make_network(policy, 4, "auto", 1).compute == "autograd"


@pytest.mark.parametrize(
    "space",
    [
        spaces.Text(4),
        spaces.Sequence(spaces.Discrete(2)),
        spaces.Graph(spaces.Discrete(2), None),
        spaces.Box(0, 2**40, (2,), np.int64),
        spaces.Box(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2,), np.int64),
        spaces.Dict({}),
        spaces.Tuple((spaces.Discrete(2), spaces.Text(4))),
        spaces.OneOf((spaces.Discrete(2), spaces.Box(-1, 1, (1,)))),
    ],
)
def test_other_spaces_get_a_sentence_that_names_a_wrapper(space: spaces.Space[Any]) -> None:
    with pytest.raises(UserError, match="cannot act in") as caught:
        action_distribution(space)
    assert "TransformAction" in str(caught.value.hint)


def test_masks_of_a_composite_are_one_row_or_a_mapping() -> None:
    actions = action_distribution(PARTS)
    assert actions.mask_size == 4 + 3 + 6
    tools = np.array([[1, 0, 1, 1, 1, 0, 0, 0, 1], [0, 0, 1, 0, 1, 1, 1, 1, 0]], np.int8)
    switches = np.array([[1, 0, 1, 1], [1, 1, 0, 1]], np.int8)
    flat = np.hstack((switches, tools)).astype(np.bool_)
    nested = {"switches": switches, "_switches": np.ones(2, np.bool_), "tools": (tools[:, :3], tools[:, 3:])}
    for given in (flat, {"switches": switches, "tools": tools}, nested):
        assert np.array_equal(actions.flat_masks(given, 2), flat)
    rows = np.empty(2, object)
    rows[:] = [(row[:3], row[3:]) for row in tools]  # as Gymnasium collects tuples in infos
    assert np.array_equal(actions.flat_masks({"tools": rows, "aim": None}, 2)[:, 4:], flat[:, 4:])
    assert actions.flat_masks({"tools": None}, 2).all()
    with pytest.raises(UserError, match="12 flags"):
        actions.flat_masks(flat[:, 1:], 2)
    with pytest.raises(UserError, match="'hammer', which is no part"):
        actions.flat_masks({"hammer": flat}, 2)


def test_masked_parts_are_never_drawn_and_judged_alike() -> None:
    actions = action_distribution(PARTS)
    outputs = outputs_for(actions, 2000)
    masks = np.random.default_rng(0).random((2000, actions.mask_size)) < 0.4
    for first in (0, 2, 4, 7, 9):
        masks[:, first] = True
    choices, log_probs = drawn(actions, outputs, masks)
    batch = actions.to_env(choices)
    rows = np.arange(2000)
    assert masks[rows, 4 + batch["tools"][0] + 1].all()
    assert masks[rows, 9 + batch["tools"][1][:, 1]].all()
    assert masks[rows, 2 + batch["switches"][:, 1]].all()
    evaluated, _ = actions.evaluate(torch.from_numpy(outputs), torch.from_numpy(choices), torch.from_numpy(masks))
    np.testing.assert_allclose(evaluated.numpy(), log_probs, atol=3e-5)
    mode = np.empty_like(choices)
    actions.mode(outputs.copy(), masks, mode)
    assert masks[rows, 9 + actions.to_env(mode)["tools"][1][:, 1]].all()


@pytest.mark.parametrize("backend", ["serial", "shared", "async", "SyncVectorEnv"])
@pytest.mark.parametrize("name", ["parts", "uneven", "bytes"])
def test_environments_of_every_backend_are_given_actions_of_their_space(backend: str, name: str) -> None:
    make: Any = partial(StrictEnv, SPACES[name])
    envs: Any = SyncVectorEnv([make] * 3) if backend == "SyncVectorEnv" else vector.make(make, 3, backend, workers=1)
    actions = action_distribution(envs.single_action_space)
    envs.reset(seed=0)
    for seed in range(7):  # StrictEnv fails on any action that is not in its space
        envs.step(actions.to_env(drawn(actions, outputs_for(actions, 3, seed), seed=seed)[0]))
    envs.close()
