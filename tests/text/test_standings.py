import math

import pytest

from garrison.errors import UserError
from garrison.text.endpoint import Tokens
from garrison.text.spending import BudgetSpent, Price, Spending
from garrison.text.standings import ContestCell, Entry, Standings, joined

CELL, OTHER = ContestCell("meander", 30), ContestCell("bline", 30)


def standings(ours: list[float], theirs: list[float]) -> Standings:
    entries = (Entry("m", {CELL: ours}), Entry("sleep", {CELL: theirs}))
    return Standings(entries, (CELL,), "head", len(ours), 0, turns=60, fallback="Sleep", usage=Tokens(1, 2, 3, 4))


def test_differences_are_paired() -> None:
    found = standings([-10.0, -20.0, -90.0], [-13.0, -22.0, -94.0])
    mean, reach = found.lead(found.entries[1], CELL)
    assert (round(mean, 6), round(reach, 3)) == (3.0, 2.484)  # by hand: 4.303 * 1 / sqrt(3)
    assert found.mean(found.entries[0], CELL).reach > 80  # unpaired, nothing would be shown
    assert "m is better by 3.00 ± 2.48" in found.to_text()
    assert "worse by 3.00" in standings([-13.0, -22.0, -94.0], [-10.0, -20.0, -90.0]).to_text()
    assert "not shown to differ: +0.33" in standings([-1.0, -2.0, -3.0], [-2.0, -1.0, -4.0]).to_text()
    assert "m is equal" in standings([-1.0, -2.0], [-1.0, -2.0]).to_text()


def test_a_single_episode_has_no_confidence() -> None:
    found = standings([-10.0], [-12.0])
    assert "±" not in found.to_text().splitlines()[3]
    assert "+2.00, in a single episode" in found.to_text()
    assert found.to_dict()["cells"][0]["agents"]["sleep"]["lead_ci95"] is None


def test_cells_add_up_as_in_the_challenge() -> None:
    entry = Entry("m", {CELL: [-1.0, -3.0], OTHER: [-10.0, -30.0]})
    found = Standings((entry,), (CELL, OTHER), "head", 2, 0)
    total = found.total(entry)
    assert total.mean == -22.0
    assert total.reach == pytest.approx(math.hypot(found.mean(entry, CELL).reach, found.mean(entry, OTHER).reach))
    assert "total of 2 cells" in found.to_text()


def test_contests_on_other_episodes_are_not_compared() -> None:
    one = standings([-1.0, -2.0], [-1.0, -2.0])
    both = joined([one, standings([-2.0, -3.0], [0.0, 0.0])], ["a", "b"])
    assert [entry.name for entry in both.entries] == ["a", "b"]
    assert both.lead(both.entries[1], CELL).mean == 1.0
    with pytest.raises(UserError, match="a and b did not play the same episodes: their episodes are 2 and 3"):
        joined([one, standings([-1.0, -2.0, -3.0], [0.0, 0.0, 0.0])], ["a", "b"])


def test_spending() -> None:
    spending = Spending(Price(0.5, 2.0), 0.01)
    spending.check()
    spending.add(Tokens(10_000, 2_000, 5, 0))
    assert spending.cost == pytest.approx(0.009)
    spending.check()
    spending.add(Tokens(2_000, 0, 1, 0))
    with pytest.raises(BudgetSpent, match=r"the budget of 0.01 is spent"):
        spending.check()
    assert Spending().cost is None
    for wrong in ({"budget": 1.0}, {"price": Price(1, 1), "budget": 0.0}, {"price": Price(1, 1), "budget": math.nan}):
        with pytest.raises(UserError):
            Spending(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UserError):
        Price(-1.0, 2.0)
