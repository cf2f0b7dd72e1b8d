"""The theory on a toy problem: a fault that is repaired, awaited or looked for, seen only through a noisy signal."""

import numpy as np
import pytest

from garrison.limit.finite_models import FiniteModel, exact_value, hindsight_values, state_values

STEPS = 5
SCENARIOS = 1000


@pytest.fixture(scope="module")
def fault() -> FiniteModel:
    """Fine, broken or broken badly; wait, repair (costs 1) or strengthen (costs 0.3, breaks less often)."""
    wait = [[0.8, 0.2, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]]
    repair = [[0.9, 0.1, 0.0], [0.9, 0.1, 0.0], [0.7, 0.2, 0.1]]
    strengthen = [[0.95, 0.05, 0.0], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]]
    return FiniteModel(
        moves=np.array([wait, repair, strengthen]).transpose(1, 0, 2),
        rewards=np.array([[0.0, -1.0, -0.3], [-0.4, -1.0, -0.7], [-2.0, -1.5, -2.2]]),
        signals=np.array([[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]]),
        start=np.array([0.7, 0.2, 0.1]),
    )


def test_belief_programming_finds_the_optimum_that_every_plan_of_two_steps_gives(fault: FiniteModel) -> None:
    best = -np.inf
    for first in range(3):
        for by_signal in np.ndindex(3, 3):
            total = fault.start @ fault.rewards[:, first]
            for state in range(3):
                for signal in range(2):
                    p = (fault.start @ fault.moves[:, first])[state] * fault.signals[state, signal]
                    total += p * fault.rewards[state, by_signal[signal]]
            best = max(best, total)
    assert exact_value(fault, 2) == pytest.approx(best, abs=1e-12)


def test_the_bounds_stand_in_order_above_the_optimum(fault: FiniteModel) -> None:
    hidden = exact_value(fault, STEPS)
    seen = float(fault.start @ state_values(fault, STEPS)[STEPS])
    known = hindsight_values(fault, np.zeros((STEPS + 1, 3)), SCENARIOS, seed=0)
    margin = 3 * known.std() / np.sqrt(SCENARIOS)
    assert hidden < seen - 0.01
    assert seen < known.mean() - margin  # to know the future is worth much more than to know the state


def test_with_the_values_as_penalty_every_scenario_gives_the_value_of_its_start(fault: FiniteModel) -> None:
    values = state_values(fault, STEPS)
    found = hindsight_values(fault, values, 200, seed=1)
    assert np.abs(found[:, None] - values[STEPS]).min(axis=1).max() < 1e-12
    assert len(np.unique(found.round(9))) == 3


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_guess_is_a_looser_bound_but_still_one(fault: FiniteModel, seed: int) -> None:
    values = state_values(fault, STEPS)
    noise = np.random.default_rng(seed).normal(0, 0.3, values.shape)
    noise[0] = 0
    found = hindsight_values(fault, values + noise, SCENARIOS, seed)
    margin = 3 * found.std() / np.sqrt(SCENARIOS)
    assert found.mean() - margin > exact_value(fault, STEPS)
    assert found.mean() > fault.start @ values[STEPS]
