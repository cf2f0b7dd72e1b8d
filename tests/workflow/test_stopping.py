import doctest

import pytest

from garrison.workflow import stopping
from garrison.workflow.stopping import Stopper, StopRules


def feed(stopper: Stopper, values: list[float | None], episodes: int = 100) -> int | None:
    """Return after which update the stopper had a reason."""
    for k, value in enumerate(values):
        stopper.add((k + 1) * episodes, value)
        if stopper.reason:
            return k + 1
    return None


def test_the_example_holds() -> None:
    assert doctest.testmod(stopping).failed == 0


def test_stops_at_the_threshold() -> None:
    stopper = Stopper(StopRules(0.9, 0, 0, None))
    assert feed(stopper, [0.5, 0.89, 0.9, 1.0]) == 3
    assert stopper.reason == "compliant"


def test_waits_for_the_least_episodes() -> None:
    stopper = Stopper(StopRules(0.9, 2, 500, None))
    assert feed(stopper, [0.95] * 9) == 5
    assert stopper.reason == "compliant"


def test_a_gain_restarts_patience_and_a_small_one_does_not() -> None:
    stopper = Stopper(StopRules(0.9, 3, 0, None))
    # 0.52 is a gain over 0.50; 0.525, 0.53 and 0.53 are less than 0.01 above 0.52.
    assert feed(stopper, [0.50, 0.505, 0.52, 0.525, 0.53, 0.53]) == 6
    assert stopper.reason == "plateau"


def test_slow_but_steady_progress_is_no_plateau() -> None:
    stopper = Stopper(StopRules(0.99, 3, 0, None))
    assert feed(stopper, [0.5 + 0.004 * k for k in range(60)]) is None


def test_without_patience_or_threshold_the_cap_decides() -> None:
    stopper = Stopper(StopRules(None, 0, 0, 700))
    assert feed(stopper, [1.0] * 20) == 7
    assert stopper.reason == "episodes"


def test_updates_without_an_ended_episode_only_count_towards_the_cap() -> None:
    stopper = Stopper(StopRules(0.9, 1, 0, 300))
    assert feed(stopper, [None, None, None]) == 3
    assert stopper.reason == "episodes"
    assert stopper.waited == 0


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_restored_stopper_goes_on_as_if_never_stopped(cut: int) -> None:
    values: list[float | None] = [0.3, 0.5, 0.5, 0.52, 0.52, 0.52, 0.52, 0.52, 0.52]
    rules = StopRules(0.9, 4, 0, None)
    whole = Stopper(rules)
    first, second = Stopper(rules), Stopper(rules)
    assert feed(whole, values) == 8
    for k, value in enumerate(values[:cut]):
        first.add(k, value)
    second.restore(first.state())
    assert feed(second, values[cut:]) == 8 - cut
