"""A3C: its state continues, its weights move from every worker, and what is not finite ends it."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from garrison.errors import UserError
from garrison.learn import a3c
from garrison.learn.config import A3CConfig, PolicyConfig
from garrison.learn.nn.policy import Policy
from garrison.learn.result import Diverged
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import Poisoned, Talking
from tests.helpers.processes import gone

SMALL: dict[str, Any] = {
    "rollout": 5,
    "actors": 2,
    "compute": "autograd",
    "policy": PolicyConfig(hidden=(16,)),
}
BITS = partial(BitsEnv, length=10)


def test_every_worker_updates_the_same_weights_and_the_run_can_be_continued() -> None:
    log = Talking(updates=2)
    # As long as a rollout: the first updates have whole episodes already, and all are equally long.
    episodes = partial(BitsEnv, length=SMALL["rollout"], staggered=False)
    first = a3c.train(A3CConfig(steps=10**9, **SMALL), episodes, 20, log)
    fresh = Policy(BITS(1).single_observation_space, BITS(1).single_action_space, SMALL["policy"], seed=0)
    assert not torch.equal(first.policy.flat, fresh.flat)
    assert log.states[-1] is first.state
    assert first.state["algorithm"] == "a3c"
    assert first.updates >= first.steps / 100 > 0  # the last updates may not have been reported
    assert 0 < first.state["adam"]["steps"] <= first.updates
    assert log.metrics[-1]["train/actors"] == 2
    assert log.metrics[-1]["rollout/ep_length_mean"] == SMALL["rollout"]
    assert len(log.family) == 2
    assert gone(log.family)
    assert not log.said

    still = Talking(updates=0)
    same = a3c.train(A3CConfig(steps=10**9, **SMALL), BITS, 20, still, resume=first.state)
    assert same.steps == first.steps
    for name in ("first", "second"):
        assert same.state["adam"][name].shape == first.state["adam"][name].shape
    with pytest.raises(UserError, match="algorithm 'a3c'"):
        a3c.train(A3CConfig(steps=10**9, **SMALL), BITS, 20, resume={**first.state, "format": 7})
    with pytest.raises(UserError, match="weights"):
        a3c.train(A3CConfig(steps=10**9, **{**SMALL, "policy": PolicyConfig()}), BITS, 20, resume=first.state)


def test_a_gru_learns_too() -> None:
    policy = PolicyConfig(hidden=(16,), recurrent_size=8)
    result = a3c.train(A3CConfig(steps=1000, **{**SMALL, "policy": policy, "actors": 1}), BITS, 20)
    assert result.steps >= 1000
    assert result.compute == "autograd"


def test_what_is_not_finite_ends_the_run_with_a_good_state() -> None:
    log = Talking()
    with pytest.raises(Diverged, match="rewards are not finite"):
        a3c.train(A3CConfig(steps=10**9, **SMALL), Poisoned, 20, log)
    assert np.isfinite(log.states[-1]["weights"].numpy()).all()


@pytest.mark.parametrize(("name", "value"), [("actors", 0), ("gae_lambda", 1.5), ("actor_timeout", 0.0)])
def test_settings_are_checked(name: str, value: float) -> None:
    with pytest.raises(UserError, match=f"{name} cannot be {value}"):
        A3CConfig(**{name: value})
