"""Seeds, reset masks and autoreset modes mean the same to the simulator's batch and to every vector backend."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from garrison import vector
from garrison.cage2 import VectorEnv
from garrison.contract.resets import autoreset_mode, reset_mask, spread_seed
from garrison.errors import UserError

MAKERS = {
    "batch": VectorEnv,
    "serial": lambda num_envs, **settings: vector.make("garrison/CAGE2-v0", num_envs, "serial", **settings),
}


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, "SameStep", "same_step", "SAME_STEP"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_every_spelling_of_a_mode_is_taken_everywhere(make: Any, mode: Any) -> None:
    assert autoreset_mode(mode) is AutoresetMode.SAME_STEP
    envs = make(2, autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    envs.close()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_wrong_arguments_get_the_same_words_everywhere(make: Any) -> None:
    with pytest.raises(UserError, match="did you mean 'SameStep'"):
        make(2, autoreset_mode="SameSteps")
    envs = make(2)
    envs.reset(seed=0)
    for seed, message in [(-1, "seed must"), ([1], "one per environment, 2"), (0.5, "seed must be a whole number")]:
        with pytest.raises(UserError, match=message):
            envs.reset(seed=seed)
    for mask, message in [
        (np.array([True]), r"must be a bool array of shape \(2,\)"),
        ([True, False], "must be a bool array"),
        (np.zeros(2, bool), "at least one True"),
    ]:
        with pytest.raises(UserError, match=message):
            envs.reset(options={"reset_mask": mask})
    envs.close()


def test_a_seed_counts_up_and_none_stays_none() -> None:
    assert spread_seed(7, 3) == [7, 8, 9]
    assert spread_seed(np.int64(7), 1) == [7]
    assert spread_seed([3, None], 2) == [3, None]
    assert spread_seed(np.array([3, 4]), 2) == [3, 4]
    assert spread_seed(None, 2) == [None, None]
    assert spread_seed(2**64 - 2, 2, 2**64 - 1) == [2**64 - 2, 2**64 - 1]
    for too_high in (2**64 - 1, [0, 2**64]):
        with pytest.raises(UserError, match="seed must lie between 0 and"):
            spread_seed(too_high, 2, 2**64 - 1)


def test_without_a_mask_all_environments_are_reset() -> None:
    expected = partial(np.testing.assert_array_equal, [True, True])
    expected(reset_mask(None, 2))
    expected(reset_mask({"reset_mask": None}, 2))
    np.testing.assert_array_equal(reset_mask({"reset_mask": np.array([False, True])}, 2), [False, True])
