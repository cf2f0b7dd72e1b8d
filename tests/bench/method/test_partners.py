from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import Labels
from garrison.bench.method.partners import circles, pair


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


def test_rows_are_linked_through_others() -> None:
    links = {"a": "b", "b": "c", "d": "e"}
    paired = pair(rows("a", "d", "b", "e", "c", "f"), lambda labels: [{"who": links.get(labels["who"])}])
    assert circles(paired) == [[0, 2, 4], [1, 3], [5]]
