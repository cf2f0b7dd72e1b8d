"""What is not steady stands apart, with its interval, its rounds and the reason."""

import pytest

from garrison.bench.method.estimate import FEWEST, Estimate
from garrison.bench.method.why_wide import why_wide
from garrison.bench.publish.apart import Line, line, markdown_apart, print_apart, table_apart
from garrison.report.page import Page

UNTIL_STEADY = {"method": {"ended_by": "budget", "budget": "20m", "rounds": 31}}
NARROW, WIDE = Estimate(2.0, 1.98, 2.02, 9), Estimate(2.0, 1.5, 2.5, 31)
HEADER = ("row", "times")


def lines(*numbers: Estimate) -> list[Line]:
    return [line((f"row {k}", number.times()), number) for k, number in enumerate(numbers)]


def test_a_line_can_be_quoted_when_all_its_numbers_can() -> None:
    assert line(("a",), NARROW) == (("a",), False, 9)
    assert line(("a",), NARROW, WIDE) == (("a",), True, 9)


def test_documents_have_two_tables() -> None:
    text = markdown_apart(HEADER, lines(NARROW, WIDE), UNTIL_STEADY, "Said", "below.")
    assert text.splitlines() == [
        "| row | times |",
        "|---|---:|",
        "| row 0 | 2 ± 1.0% |",
        "",
        "Not steady, so not to be quoted (31 rounds, then the budget of 20m was used up):",
        "",
        "| row | times |",
        "|---|---:|",
        "| row 1 | 1.5 to 2.5 |",
        "",
        "Said below.",
    ]


def test_reasons_that_differ_have_a_column() -> None:
    text = markdown_apart(HEADER, lines(WIDE, WIDE._replace(rounds=7)), UNTIL_STEADY)
    assert "| row 0 | 1.5 to 2.5 | 31 rounds, then the budget of 20m was used up |" in text
    assert text.startswith("Not steady, so not to be quoted:\n\n| row | times | why |")


def test_when_all_is_steady_nothing_stands_apart() -> None:
    assert "Not steady" not in markdown_apart(HEADER, lines(NARROW), UNTIL_STEADY)
    assert markdown_apart(HEADER, [], UNTIL_STEADY, "x").startswith("| row | times |")


def test_pages_and_the_terminal_have_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    page = Page("x")
    table_apart(page, HEADER, lines(NARROW, WIDE), UNTIL_STEADY)
    assert page.html().count("<table>") == 2
    assert "<caption>Not steady, so not to be quoted (31 rounds" in page.html()
    print_apart("ratios", HEADER, lines(NARROW, WIDE), UNTIL_STEADY)
    assert (
        "Not steady, so not to be quoted (31 rounds, then the budget of 20m was used up):\n" in capsys.readouterr().out
    )


def test_the_reason_is_what_ended_the_rounds() -> None:
    until = {"rounds": 12, "budget": "1m"}
    assert why_wide(until | {"ended_by": "budget"}, 12) == "12 rounds, then the budget of 1m was used up"
    assert why_wide(until | {"ended_by": "repeats"}, 12) == "12 rounds, as asked for"
    # The number is not the ratio to a partner, on which the rounds wait: others went on, or nobody did.
    compared = "then what each row itself is compared with was steady"
    assert why_wide(until | {"ended_by": "budget"}, 7) == f"7 rounds, {compared}"
    assert why_wide(until | {"ended_by": "steady"}, 12) == f"12 rounds, {compared}"


def test_the_reason_names_neighbours_who_took_the_cores() -> None:
    until = {"rounds": 12, "budget": "1m", "ended_by": "repeats"}
    assert why_wide(until | {"stolen": [0.0, 0.019]}, 12) == "12 rounds, as asked for"
    taken = "; others on the host took 25% of the cores' time (median, at most 47%)"
    assert why_wide(until | {"stolen": [0.25, 0.47]}, 12) == f"12 rounds, as asked for{taken}"


def test_runs_of_older_versions_had_as_many_rounds_as_asked_for() -> None:
    assert why_wide({"repeats": 3}, 3) == f"3 rounds, as asked for; an interval needs {FEWEST}"
    assert why_wide({"repeats": 3}, 0) == "no interval was kept"
