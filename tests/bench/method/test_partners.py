from dataclasses import replace

import pytest

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import Labels
from garrison.bench.method.measurement import Measurement
from garrison.bench.method.partners import GUESTS, heats, host_of, pair


def rows(*names: str) -> list[Configuration]:
    return [Configuration({"who": name}, "") for name in names]


def partners(some: list[Configuration]) -> list[Labels | None]:
    return [row.partner for row in some]


def test_the_first_candidate_that_is_a_row_is_the_partner() -> None:
    paired = pair(rows("ours", "second"), lambda _: [{"who": "first"}, {"who": "second"}])
    assert partners(paired) == [{"who": "second"}, None]  # nobody is compared with itself
    assert partners(pair(rows("ours"), lambda _: [{"who": "first"}])) == [None]


def test_who_is_the_best_candidate_takes_no_other() -> None:
    paired = pair(rows("first", "second"), lambda _: [{"who": "first"}, {"who": "second"}])
    assert partners(paired) == [None, {"who": "first"}]


def test_rows_take_turns_with_their_partner_some_at_a_time() -> None:
    links = {"a": "b", "b": "c", "d": "e"}
    names = ("a", "d", "b", "e", "c", "f", *(f"more {k}" for k in range(GUESTS)))
    paired = pair(rows(*names), lambda labels: [{"who": links.get(labels["who"], "c")}])
    measured = [Measurement(row, ()) for row in paired]
    assert heats(measured, range(6)) == [[2, 0], [3, 1], [4, 2, 3, 5]]
    assert heats(measured, [0]) == [[2, 0]]  # a partner is there even if it is done itself
    assert heats(measured, [2, *range(5, 6 + GUESTS)]) == [[4, 2, 5, 6, 7], [4, 8, 9]]


def test_without_its_partner_a_row_takes_turns_with_nobody() -> None:
    first, second = (Measurement(row, ()) for row in pair(rows("ours", "limit"), lambda _: [{"who": "limit"}]))
    assert heats([first, replace(second, error="it broke")], [0]) == [[0]]
    assert host_of([first, second], 0) == 1
    with pytest.raises(ValueError, match="no row has the labels"):
        heats([first], [0])
