"""The theory on a toy problem: a fault that is repaired, awaited or looked for, seen only through a noisy signal."""

from dataclasses import replace

import numpy as np
import pytest

from garrison.limit.explore import GameGraph
from garrison.limit.values import best_returns, value_table
from tests.helpers.finite_models import FiniteModel, exact_value, hindsight_values, state_values

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


def game_of(model: FiniteModel, start: int) -> GameGraph:
    """Return the model as positions: the states, `start` first, and behind them a turn for each state and action."""
    states, actions = model.rewards.shape
    order = [start, *(s for s in range(states) if s != start)]
    turns = states * actions
    size = states + turns
    draws, odds, begins = [], [], []
    for s in order:
        for a in range(actions):
            begins.append(len(draws))
            draws += [1, 1, states, *range(states)]  # one target, one alternative, a branch to each state
            odds += [0.0, 1.0, 0.0, *model.moves[s, a, order]]
    return GameGraph(
        rules="none",
        red="none",
        steps=STEPS,
        listed=0,
        firsts=np.arange(size),
        seconds=np.zeros(size, np.int64),
        is_decision=np.arange(size) < states,
        is_turn=np.arange(size) >= states,
        move_start=np.append(np.arange(states) * actions, np.zeros(turns, np.int64)),
        move_count=np.append(np.full(states, actions, np.int32), np.zeros(turns, np.int32)),
        move_to=np.arange(states, size, dtype=np.int32),
        move_cost=-model.rewards[order].ravel(),
        turn_start=np.append(np.zeros(states, np.int64), begins),
        draws=np.array(draws, np.int32),
        odds=np.array(odds),
        rewards=np.zeros(size),
        table=np.zeros(0, np.int32),
    )


@pytest.mark.parametrize("start", range(3))
def test_the_induction_over_positions_finds_the_known_optimum(fault: FiniteModel, start: int) -> None:
    values = state_values(fault, STEPS)
    game = game_of(fault, start)
    assert best_returns(game, STEPS) == pytest.approx(values[:, start], abs=1e-12)
    assert value_table(game, STEPS).values[STEPS, 0] == pytest.approx(values[STEPS, start], abs=1e-12)


def test_the_induction_takes_the_better_of_two_alternatives(fault: FiniteModel) -> None:
    """A present can only help: beside the true branches of a turn, an alternative that leads to the best state."""
    game = game_of(fault, 2)
    plain = best_returns(game, STEPS)[STEPS]
    draws, odds = game.draws.tolist(), game.odds.tolist()
    begin = int(game.turn_start[3])
    gift = replace(
        game,
        draws=np.array([*draws, 1, 2, 3, *draws[begin + 3 : begin + 6], 1, 1], np.int32),
        odds=np.array([*odds, 0.0, 1.0, 0.0, *odds[begin + 3 : begin + 6], 0.0, 1.0]),
        turn_start=np.where(np.arange(game.size) == 3, len(draws), game.turn_start),
    )
    assert best_returns(gift, STEPS)[STEPS] > plain + 0.1
