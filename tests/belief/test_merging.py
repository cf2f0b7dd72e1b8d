"""Which states count as the same."""

import numpy as np

from garrison.belief.merging import PAST, TRIFLES, digests, merge
from garrison.cage2.layout import STATE


def test_states_that_differ_in_their_past_only_are_one() -> None:
    states = np.zeros(3, STATE)
    states["total"] = -1.0, -2.0, -3.0
    states["access"][2, 5] = 1
    merged, weights = merge(states, np.array([0.5, 0.25, 0.25]))
    assert len(merged) == 2
    assert dict(zip(merged["access"][:, 5].tolist(), weights.tolist(), strict=True)) == {0: 0.75, 1: 0.25}


def test_every_field_that_is_not_the_past_tells_states_apart() -> None:
    for name in STATE.names or ():
        pair = np.zeros(2, STATE)
        if name == "unused":
            continue
        pair[name][1] = 1
        merged, _ = merge(pair, np.ones(2))
        assert len(merged) == (1 if name in (*PAST, *TRIFLES) else 2), name


def test_digests_of_many_states_differ() -> None:
    states = np.zeros(20_000, STATE)
    states["sessions"][:, 3] = np.arange(20_000)
    assert len(np.unique(digests(states))) == 20_000
