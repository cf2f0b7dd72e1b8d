import math

import pytest

from garrison.tasks.confidence import difference95, mean95


def test_five_runs_reach_2776_standard_errors() -> None:
    mean, reach = mean95([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3.0
    assert reach == pytest.approx(2.776 * math.sqrt(2.5 / 5))


def test_many_runs_approach_196_standard_errors() -> None:
    assert mean95([0.0, 1.0] * 500).reach == pytest.approx(1.96 * 0.50025 / math.sqrt(1000), rel=2e-3)


def test_one_run_says_nothing() -> None:
    assert mean95([7.0]) == (7.0, math.inf)
    assert difference95([7.0], [1.0, 2.0]).reach == math.inf


def test_the_difference_is_welchs() -> None:
    # Equal sizes and deviations: 2n - 2 degrees of freedom, so 2.306 for two times five runs.
    difference, reach = difference95([11.0, 12.0, 13.0, 14.0, 15.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert difference == 10.0
    assert reach == pytest.approx(2.306 * math.sqrt(2 * 2.5 / 5))
    # One side without any deviation: as many degrees of freedom as the other has.
    assert difference95([1.0, 1.0, 1.0], [0.0, 2.0, 4.0]).reach == pytest.approx(4.303 * math.sqrt(4 / 3))
    assert difference95([2.0, 2.0], [1.0, 1.0]) == (1.0, 0.0)
