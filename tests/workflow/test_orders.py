import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from garrison.errors import UserError
from garrison.workflow import orders
from garrison.workflow.orders import (
    CANONICAL,
    ORDERS,
    UNITS,
    from_one_hot,
    from_ranks,
    index_of,
    kendall,
    kendall_matrix,
    label,
    name_of,
    one_hot,
    parse_order,
    parse_orders,
    ranks,
    spearman,
    spearman_matrix,
)

INDICES = st.integers(0, 119)


def test_the_examples_hold() -> None:
    result = doctest.testmod(orders)
    assert result.attempted > 5
    assert result.failed == 0


def test_orders_are_numbered_as_permutations_of_the_units() -> None:
    assert len(set(ORDERS)) == 120
    assert ORDERS[0] == UNITS
    assert ORDERS[119] == UNITS[::-1]
    assert list(ORDERS) == sorted(ORDERS, key=lambda order: [UNITS.index(unit) for unit in order])


@given(INDICES)
def test_every_form_leads_back_to_the_order(index: int) -> None:
    order = ORDERS[index]
    assert index_of(order) == index
    assert from_one_hot(one_hot(order)) == order
    assert from_ranks(ranks(order)) == order
    assert parse_order(label(order)) == parse_order(index) == parse_order(",".join(order)) == order
    assert parse_order(name_of(index)) == order
    assert one_hot(order).sum() == 5


@given(INDICES, INDICES, INDICES, st.sampled_from([kendall, spearman]))
def test_distances_are_metrics_up_to_one(i: int, j: int, k: int, distance: object) -> None:
    a, b, c = ORDERS[i], ORDERS[j], ORDERS[k]
    assert callable(distance)
    assert 0.0 <= distance(a, b) <= 1.0
    assert (distance(a, b) == 0.0) == (a == b)
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12
    assert distance(a, a[::-1]) == 1.0


@given(INDICES, INDICES)
def test_matrices_hold_the_distances(i: int, j: int) -> None:
    assert kendall_matrix()[i, j] == pytest.approx(kendall(ORDERS[i], ORDERS[j]))
    assert spearman_matrix()[i, j] == pytest.approx(spearman(ORDERS[i], ORDERS[j]))


def test_neighbours_differ_by_one_swap() -> None:
    assert ((kendall_matrix() * 10).round().astype(int) == 1).sum(axis=1).tolist() == [4] * 120


def test_canonical_orders_are_the_published_ones() -> None:
    assert {name: index_of(order) for name, order in CANONICAL.items()} == {
        "critical_first": 6,
        "enterprise_focus": 24,
        "user_priority": 96,
        "operational_focus": 60,
        "balanced": 1,
        "reverse": 117,
    }


def test_several_orders_are_read_once_each() -> None:
    assert parse_orders(["6", "critical_first", "0"]) == [6, 0]
    assert parse_orders(["all"]) == list(range(120))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("critcal_first", "did you mean 'critical_first'"),
        ("120", "numbered 0 to 119; got 120"),
        ("-1", "numbered 0 to 119"),
        ("9" * 5000, "numbered 0 to 119; got 9{20}\\."),
        ("²", "no order"),
        ("user,defender", "names each of defender, enterprise"),
        ("user,user,defender,op_host,op_server", "names each of"),
        ("user,defendr,enterprise,op_host,op_server", "did you mean 'defender'"),
        ("", "no order ''"),
    ],
)
def test_what_is_no_order_is_said(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_order(text)


def test_all_stands_alone() -> None:
    with pytest.raises(UserError, match="stands for every order"):
        parse_orders(["all", "3"])


def test_a_matrix_has_a_zero_diagonal_only() -> None:
    for matrix in (kendall_matrix(), spearman_matrix()):
        assert (np.diag(matrix) == 0).all()
        assert (matrix == 0).sum() == 120
