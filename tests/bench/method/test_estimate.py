"""An interval covers the truth as often as it says, also when measuring ends because it is narrow."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.bench.method.estimate import CONFIDENCE, FEWEST, NARROW, Estimate, estimate, estimate_ratio
from garrison.tasks.confidence import mean95

Noise = Callable[[np.random.Generator, float, int], NDArray[np.float64]]
TRUTH = 3.0
TRIALS = 600
ERROR = 3 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / TRIALS)  # of a share that is counted in so many trials


def calm(dice: np.random.Generator, spread: float, rounds: int) -> NDArray[np.float64]:
    return np.exp(dice.normal(0.0, spread, rounds))


def busy(dice: np.random.Generator, spread: float, rounds: int) -> NDArray[np.float64]:
    """Rates of which one in ten was taken while something else had the core."""
    return calm(dice, spread, rounds) * np.where(dice.random(rounds) < 0.1, dice.uniform(0.4, 0.9, rounds), 1.0)


@pytest.mark.parametrize("noise", [calm, busy])
@pytest.mark.parametrize("rounds", [FEWEST, 9, 20])
def test_an_interval_covers_the_truth_as_often_as_it_says(noise: Noise, rounds: int) -> None:
    dice = np.random.default_rng(rounds)
    covered = 0
    for _ in range(TRIALS):
        found = estimate_ratio(TRUTH * noise(dice, 0.05, rounds), noise(dice, 0.05, rounds))
        assert found is not None
        assert found.low <= found.value <= found.high
        covered += found.low <= TRUTH <= found.high
    assert CONFIDENCE - ERROR <= covered / TRIALS < 1.0


@pytest.mark.parametrize("noise", [calm, busy])
def test_it_still_does_when_a_narrow_one_ends_the_rounds(noise: Noise) -> None:
    dice = np.random.default_rng(0)
    covered = ended = 0
    for _ in range(150):
        ours, theirs = TRUTH * noise(dice, 0.025, 60), noise(dice, 0.025, 60)
        for rounds in range(FEWEST, 61):
            found = estimate_ratio(ours[:rounds], theirs[:rounds])
            assert found is not None
            if found.is_narrow:
                break
        ended += found.is_narrow
        covered += found.low <= TRUTH <= found.high
    assert ended > 100  # so it is the rule that ended them
    assert covered / 150 > 0.9


def test_on_a_busy_machine_students_t_needs_at_least_four_times_as_many_rounds() -> None:
    dice = np.random.default_rng(0)
    ours = theirs = 0
    for _ in range(20):
        ratios = busy(dice, 0.02, 400) / busy(dice, 0.02, 400)
        ours += next(n for n in range(FEWEST, 401) if estimate(ratios[:n].tolist()).is_narrow)
        reach = (mean95(np.log(ratios[:n]).tolist()).reach for n in range(FEWEST, 401))
        theirs += next((n for n, half in enumerate(reach, FEWEST) if 2 * half <= math.log(1 + NARROW)), 401)
    assert theirs >= 4 * ours


def test_a_slow_minute_of_both_leaves_their_ratio_as_it_is() -> None:
    machine = np.array([1.0, 0.3, 0.9, 0.5, 1.0, 0.6, 0.8])
    ours, theirs = 4.0 * machine, 2.0 * machine
    found = estimate_ratio(ours, theirs)
    assert found == pytest.approx((2.0, 2.0, 2.0, 7))
    assert found.is_narrow
    assert not estimate(ours.tolist()).is_narrow


def test_one_repeat_that_was_disturbed_does_not_widen_it() -> None:
    rates = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100.0, 100.3]
    assert estimate(rates).is_narrow
    assert estimate([*rates, 50.0]).is_narrow


def test_a_ratio_and_its_inverse_are_equally_sure() -> None:
    dice = np.random.default_rng(1)
    ours, theirs = 5.0 * calm(dice, 0.1, 12), calm(dice, 0.1, 12)
    there, back = estimate_ratio(ours, theirs), estimate_ratio(theirs, ours)
    assert there is not None
    assert back is not None
    assert (1 / back.value, 1 / back.high, 1 / back.low) == pytest.approx(there[:3])


def test_the_width_is_that_of_the_whole_interval() -> None:
    assert Estimate(1.0, 1.0, 1.0 + NARROW - 1e-9, FEWEST).is_narrow
    assert not Estimate(1.0, 1.0, 1.0 + NARROW + 1e-9, FEWEST).is_narrow


def test_few_rounds_have_no_interval() -> None:
    assert 2.0**-FEWEST <= (1 - CONFIDENCE) / 2 < 2.0 ** -(FEWEST - 1)  # all of them above the truth
    few = estimate([100.0] * (FEWEST - 1))
    assert not few.is_interval
    assert not few.is_narrow
    assert estimate([100.0] * FEWEST).is_narrow


def test_only_rounds_that_both_have_are_compared() -> None:
    assert estimate_ratio([2.0, 4.0, 6.0], [1.0]) == (2.0, 2.0, 2.0, 1)
    assert estimate_ratio([2.0], []) is None
    assert estimate_ratio([2.0, 3.0], [0.0, 1.0]) == pytest.approx((3.0, 3.0, 3.0, 1))


def test_nothing_done_is_no_interval() -> None:
    assert estimate([0.0] * 8) == (0.0, 0.0, 0.0, 8)
    assert not estimate([0.0, *[5.0] * 8]).is_interval


def test_numbers_are_written_with_their_interval() -> None:
    assert Estimate(45_100, 44_200, 46_000, 9).text() == "45.1 k ± 2.0%"
    assert Estimate(45_100, 30_000, 60_000, 9).text() == "30 k to 60 k"
    assert Estimate(45_100, 45_000, 45_200, 3).text() == "45 k to 45.2 k"
    assert Estimate(45_100, 45_100, 45_100, 1).text() == "45.1 k"
    assert Estimate(4.512, 4.45, 4.57, 9).times() == "4.51 ± 1.3%"
    assert Estimate(0.69, 0.68, 0.70, 9).share() == "69.0 ± 1.0%"
    assert Estimate(0.69, 0.5, 0.9, 9).share() == "50% to 90%"
    assert [Estimate(1.0, 0.9, 1.1, rounds).caveat for rounds in (0, 1, 3, 9)] == [
        "",
        " in 1 round",
        " in 3 rounds",
        "",
    ]
    assert Estimate(4.0, 2.0, 5.0, 9).inverse() == (0.25, 0.2, 0.5, 9)
    assert Estimate(0.69, 0.5, 0.9, 9).scaled(0.5)[:3] == pytest.approx((0.345, 0.25, 0.45))
