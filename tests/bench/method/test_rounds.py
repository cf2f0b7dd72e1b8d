"""Rounds go on until each row's ratio is steady, or until the budget is used up; its partner is there in each."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import cycle, repeat
from pathlib import Path
from typing import Any

import pytest

from garrison import cli, system
from garrison.bench.method import measure as measuring
from garrison.bench.method.estimate import FEWEST
from garrison.bench.method.fresh import Configuration, Sample
from garrison.bench.method.in_turns import TRIES
from garrison.bench.method.measurement import BenchResult, Measurement
from garrison.bench.method.partners import GUESTS
from garrison.bench.method.rounds import BUDGET, Rounds
from garrison.bench.publish import stored as publish_stored
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.errors import UserError
from garrison.storage.atomic import write_json

CALM = (1.0, 1.001, 0.999)
PATIENT = Rounds(budget="300s")  # of the machine below
NOISY = (1.0, 1.04, 0.97, 1.02, 0.96, 1.03)


class Machine:
    """Stands in for fresh processes and the clock: every repeat takes a second and has the next of a row's rates.

    Who takes turns has the same moments: in each heat all rates are slower by the next of `moments`.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.measured: list[str] = []
        self.rates: dict[str, Iterator[float | str]] = {}
        self.moments: Iterator[float] = repeat(1.0)
        self.heats: list[list[str]] = []
        self.tries: list[int] = []

    def row(self, who: str, rate: float, noise: tuple[float | str, ...] = CALM, partner: str = "") -> Configuration:
        self.rates[who] = cycle([one if isinstance(one, str) else rate * one for one in noise])
        return Configuration({"who": who}, "", partner={"who": partner} if partner else None)

    def run(
        self, heat: Sequence[Configuration], _seconds: float, _warm_up: float, _timeout: float, tries: int
    ) -> tuple[list[Sample | str], int]:
        self.heats.append([configuration.labels["who"] for configuration in heat])
        self.tries.append(tries)
        moment = next(self.moments)
        return [self.repeat(configuration.labels["who"], moment) for configuration in heat], tries - 1

    def repeat(self, who: str, moment: float) -> Sample | str:
        self.seconds += 1.0
        self.measured.append(who)
        rate = next(self.rates[who])
        return rate if isinstance(rate, str) else Sample(round(1000 * rate * moment), 1000.0, 1.0, 0.0, 1.0, 1.0, 1, {})


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(measuring, "run_in_turns", made.run)
    monkeypatch.setattr(measuring, "monotonic", lambda: made.seconds)
    return made


def found(result: BenchResult, who: str) -> Measurement:
    row = result.find(who=who)
    assert row is not None
    return row


def stored(result: BenchResult, who: str) -> dict[str, Any]:
    return stored_row(result.record(), who)


def stored_row(record: dict[str, Any], who: str) -> dict[str, Any]:
    return next(row for row in record["results"] if row["labels"] == {"who": who})


def test_calm_rows_are_measured_as_often_as_an_interval_needs(machine: Machine) -> None:
    rows = [machine.row("limit", 1000.0), machine.row("ours", 800.0, partner="limit")]
    result = measuring.measure(rows, PATIENT)
    assert machine.measured == ["limit", "ours"] * FEWEST  # round by round
    assert result.is_steady(found(result, "ours"))
    assert (result.method["rounds"], result.method["ended_by"]) == (FEWEST, "steady")


def test_rows_that_are_not_steady_go_on_beside_their_partner(machine: Machine) -> None:
    rows = [
        machine.row("limit", 1000.0),
        machine.row("calm", 800.0, partner="limit"),
        machine.row("noisy", 700.0, NOISY, partner="limit"),
        machine.row("other limit", 1000.0),
        machine.row("other", 900.0, partner="other limit"),
    ]
    result = measuring.measure(rows, PATIENT)
    times = Counter(machine.measured)
    assert times["other"] == times["other limit"] == times["calm"] == FEWEST
    assert times["noisy"] == times["limit"] > FEWEST
    assert all(map(result.is_steady, result.measurements))
    assert machine.heats[:2] == [["limit", "calm", "noisy"], ["other limit", "other"]]
    assert machine.heats[2 * FEWEST :] == [["limit", "noisy"]] * (times["noisy"] - FEWEST)


def test_a_ratio_is_that_of_the_same_turns(machine: Machine) -> None:
    machine.moments = cycle([1.0, 0.5, 0.9, 0.3, 0.7])  # each heat has another
    many = [f"row {k}" for k in range(GUESTS + 2)]
    rows = [machine.row("limit", 1000.0, (1.0,)), *(machine.row(who, 800.0, (1.0,), partner="limit") for who in many)]
    result = measuring.measure(rows, PATIENT)
    assert machine.heats[:2] == [["limit", *many[:GUESTS]], ["limit", *many[GUESTS:]]]
    assert result.method["rounds"] == FEWEST
    for who in many:
        assert stored(result, who)["ratio_interval"] == [0.8, 0.8]
    first, last = found(result, many[0]), found(result, many[-1])
    assert first.rates != last.rates
    equal = pytest.approx((1.0, 1.0, 1.0, FEWEST))
    assert first.over(last) == equal  # by their ratios to the limit
    base = found(result, "limit").over(first)
    assert base == pytest.approx((1.25, 1.25, 1.25, FEWEST))
    assert len(found(result, "limit").samples) == FEWEST  # one a round, of both heats
    assert found(result, "limit").samples[0].steps == 1_500_000
    record = json.loads(json.dumps(result.record()))["results"]
    assert publish_stored.compared(record[1], record[-1]) == equal
    assert publish_stored.compared(record[1], record[0]) == pytest.approx((0.8, 0.8, 0.8, FEWEST))


def test_who_is_compared_and_compared_with_has_turns_of_its_own(machine: Machine) -> None:
    rows = [
        machine.row("loop", 1000.0),
        machine.row("one", 900.0, partner="loop"),
        machine.row("two", 1800.0, partner="one"),
    ]
    result = measuring.measure(rows, PATIENT)
    assert machine.heats == [["loop", "one"], ["one", "two"]] * FEWEST
    assert len(found(result, "one").samples) == FEWEST
    assert [round(sample.beside) for sample in found(result, "one").samples[:3]] == [1000, 1001, 999]


def test_it_is_the_ratio_that_has_to_be_steady(machine: Machine) -> None:
    minutes = (1.0, 0.5, 0.9, 0.3, 0.7)
    rows = [machine.row("limit", 1000.0, minutes), machine.row("ours", 800.0, minutes, partner="limit")]
    result = measuring.measure(rows, PATIENT)
    assert result.method["rounds"] == FEWEST
    ours = stored(result, "ours")
    assert (ours["ratio"], ours["ratio_interval"], ours["partner"]) == (0.8, [0.8, 0.8], {"who": "limit"})
    assert ours["interval"][1] / ours["interval"][0] > 2
    assert ours["steady"]


def test_no_round_begins_after_the_budget(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    wild = (1.0, 0.4, 1.7)
    rows = [machine.row("limit", 1000.0), machine.row("wild", 800.0, wild, partner="limit")]
    result = measuring.measure(rows, Rounds(budget="15s"))
    assert len(machine.measured) == 16  # the eighth round had begun
    assert (result.method["rounds"], result.method["ended_by"]) == (8, "budget")
    assert not stored(result, "wild")["steady"]
    result.print("rates")
    printed = capsys.readouterr().out
    assert "rates (not steady)" in printed
    assert "not steady: 8 rounds, then the budget of 15s was used up" in printed


def test_there_is_always_one_round(machine: Machine) -> None:
    machine.seconds = 5.0
    measuring.measure([machine.row("ours", 1.0)], Rounds(budget="0.0001s"))
    assert machine.measured == ["ours"]


@pytest.mark.parametrize("repeats", [2, FEWEST + 3])
def test_repeats_are_exact(machine: Machine, repeats: int) -> None:
    rows = [machine.row("limit", 1000.0), machine.row("ours", 800.0, NOISY, partner="limit")]
    result = measuring.measure(rows, Rounds(repeats))
    assert Counter(machine.measured) == {"limit": repeats, "ours": repeats}
    assert (result.method["repeats"], result.method["ended_by"]) == (repeats, "repeats")
    assert stored(result, "limit")["steady"] == (repeats >= FEWEST)


def test_the_budget_holds_for_repeats_too(machine: Machine) -> None:
    result = measuring.measure([machine.row("ours", 800.0)], Rounds(9, budget="5s"))
    assert len(machine.measured) == 5
    assert result.method["ended_by"] == "budget"


def test_a_row_alone_is_measured_until_its_own_rate_is_steady(machine: Machine) -> None:
    measuring.measure([machine.row("calm", 5.0), machine.row("noisy", 5.0, NOISY)], PATIENT)
    times = Counter(machine.measured)
    assert times["calm"] == FEWEST < times["noisy"]


def test_without_its_partner_a_row_stands_alone(machine: Machine) -> None:
    rows = [machine.row("limit", 1.0, (1.0, "it broke")), machine.row("ours", 800.0, NOISY, partner="limit")]
    result = measuring.measure(rows, PATIENT)
    assert machine.heats[:3] == [["limit", "ours"], ["limit", "ours"], ["ours"]]
    times = Counter(machine.measured)
    assert times["limit"] == 2  # and is not tried again
    assert times["ours"] > FEWEST
    assert found(result, "limit").error == "it broke"
    assert result.ratio(found(result, "ours")) is None
    assert result.is_steady(found(result, "ours"))


def test_a_partner_that_is_no_row_is_a_mistake(machine: Machine) -> None:
    with pytest.raises(ValueError, match="no row has the labels"):
        measuring.measure([machine.row("ours", 1.0, partner="nobody")])


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(UserError, match="--repeats must be at least 1; got 0"):
        Rounds(0)
    with pytest.raises(UserError, match="such as 90s, 10m"):
        Rounds(budget="soon")
    assert Rounds(budget="20m").seconds == 1200.0
    assert Rounds().budget == BUDGET


def facts(**others: Any) -> dict[str, Any]:
    same = {"cpu": "fast", "cores": 2, "python": "3.11", "versions": {"numpy": "2"}, "git": "abc", "sim_hash": "1"}
    return same | others


def test_going_on_adds_rounds_until_the_ratio_is_steady(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "facts", facts)
    rows = [machine.row("limit", 1000.0), machine.row("ours", 800.0, NOISY, partner="limit")]
    calibrated = replace(rows[1], arguments={"rounds": 7})
    record = json.loads(json.dumps(measuring.measure([rows[0], calibrated], Rounds(budget="3s")).record()))
    first = stored_row(record, "ours")["samples"]
    assert len(first) == 2
    monkeypatch.setattr(sys, "argv", ["garrison", "bench", "vector", "--go-on"])
    result = measuring.measure(rows, Rounds(budget="300s", earlier=record))
    row = found(result, "ours")
    assert [asdict(sample) for sample in row.samples[:2]] == first
    assert len(row.samples) == len(found(result, "limit").samples) == result.method["rounds"] > FEWEST
    assert (result.method["ended_by"], result.method["budget"]) == ("steady", "3s + 300s")
    assert result.method["command"] == record["method"]["command"]
    assert row.configuration.arguments == {"rounds": 7}  # the work that the first rounds did


def test_going_on_with_what_is_steady_measures_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "facts", facts)
    rows = [machine.row("limit", 1000.0), machine.row("ours", 800.0, partner="limit")]
    record = measuring.measure(rows, PATIENT).record()
    machine.measured.clear()
    again = measuring.measure(rows, Rounds(budget="300s", earlier=record))
    assert machine.measured == []
    assert again.record()["results"] == record["results"]


@pytest.mark.parametrize(
    ("now", "seconds", "who", "says"),
    [
        ({"cpu": "slow"}, 1.0, "ours", "its cpu was fast, now it is slow"),
        ({"git": "def"}, 1.0, "ours", "its git was abc, now it is def"),
        ({"git": "abc+changes"}, 1.0, "ours", "commit them"),
        ({}, 2.0, "ours", "made by 'garrison bench vector'"),
        ({}, 1.0, "another", "made by 'garrison bench vector'"),
    ],
)
def test_going_on_with_another_machine_code_or_command_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, now: dict[str, Any], seconds: float, who: str, says: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["garrison", "bench", "vector"])
    monkeypatch.setattr(system, "facts", facts)
    record = measuring.measure([machine.row("ours", 800.0)], Rounds(1), seconds=1.0).record()
    monkeypatch.setattr(system, "facts", lambda: facts(**now))
    with pytest.raises(UserError, match=says):
        measuring.measure([machine.row(who, 800.0)], Rounds(1, earlier=record), seconds=seconds)


def test_what_is_there_is_gone_on_with_and_the_rest_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(tmp_path / "sim.json", {"machine": {}, "results": []})
    arguments = MeasuringArguments(out=tmp_path, go_on=True)
    assert arguments.rounds("sim", quick=1).earlier == {"machine": {}, "results": []}
    assert capsys.readouterr().out == ""
    assert arguments.rounds("train", quick=1).earlier is None
    assert "train.json is not there yet, so it is begun" in capsys.readouterr().out
    assert MeasuringArguments(out=tmp_path).rounds("sim", quick=1).earlier is None
    with pytest.raises(UserError, match="needs --out"):
        MeasuringArguments(go_on=True).rounds("sim", quick=1)


@pytest.mark.parametrize(("rounds", "tries"), [(Rounds(2), 1), (Rounds(budget="1.5s"), TRIES)])
def test_rounds_whose_number_was_asked_for_are_made_once(machine: Machine, rounds: Rounds, tries: int) -> None:
    result = measuring.measure([machine.row("ours", 100.0)], rounds)
    assert (machine.tries, result.method["again"]) == ([tries] * 2, 2 * (tries - 1))


def test_going_on_where_it_would_be_ignored_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "sim", "--workflow", "--go-on", "--out", str(tmp_path)]) == UserError.exit_code
    assert "--go-on cannot add to workflow/cost.json" in capsys.readouterr().err
