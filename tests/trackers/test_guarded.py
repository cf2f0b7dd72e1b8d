"""A tracker that fails, hangs or lags behind is off after one sentence; others go on."""

import json
from pathlib import Path

import pytest

from garrison.errors import UserError
from garrison.trackers import TrackedRun, Tracker, guarded
from garrison.trackers.guarded import GuardedTracker
from garrison.trackers.together import FILE, Trackers, check_names, find_trackers
from tests.helpers import own_trackers
from tests.helpers.own_trackers import Noting

RUN = TrackedRun("mine", {"env": {"red": "bline"}}, {"garrison": "1"}, None)
SUMMARY = {"status": "finished"}
OWN = own_trackers.__name__


def said_of(tracker: GuardedTracker) -> str:
    tracker.log(1, {"a": 1.0})
    tracker.finish(SUMMARY, None)
    said = tracker.take_warning()
    assert tracker.take_warning() == ""
    return said


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("UnmakeableTracker", "failed (SystemExit: no such project)"),
        ("StartFails", "failed (ConnectionError: no server at all)"),
        ("LogFails", "failed (OSError: [Errno 28] No space left on device)"),
        ("FinishFails", "failed (RuntimeError: the server is gone)"),
        ("FinishHangs", "did not finish in 0.05 s"),
        ("LogHangs", "did not finish in 0.05 s"),
    ],
)
def test_a_failure_is_one_sentence(kind: str, why: str) -> None:
    seconds = 0.05 if "Hangs" in kind else 60.0
    tracker = GuardedTracker("mine", getattr(own_trackers, kind), RUN, finish_seconds=seconds)
    assert said_of(tracker) == f"the tracker mine {why}: it is off, and the run goes on."


def test_a_tracker_that_hangs_is_off_when_too_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "WAITING", 3)
    tracker = GuardedTracker("mine", own_trackers.LogHangs, RUN)
    for step in range(6):
        tracker.log(step, {})
    assert "is 3 calls behind" in tracker.take_warning()
    tracker.finish(SUMMARY, None)  # at once: nobody waits for one that is off
    assert tracker.take_warning() == ""


def test_everything_arrives_in_order_before_the_end() -> None:
    told = Noting()
    tracker = GuardedTracker("mine", lambda: told, RUN)
    for step in range(100):
        tracker.log(step, {"a": float(step)})
    tracker.finish(SUMMARY, Path("x"))
    assert [step for step, _ in told.rows] == list(range(100))
    assert (told.end, told.checkpoint, tracker.take_warning()) == (SUMMARY, Path("x"), "")


def test_the_base_class_does_nothing() -> None:
    assert said_of(GuardedTracker("mine", Tracker, RUN)) == ""


def test_one_that_fails_leaves_the_others_alone() -> None:
    told = Noting()
    trackers = Trackers(find_trackers([f"{OWN}:StartFails"], [told]), RUN)
    said = trackers.log({"step": 5, "a": 1.0}) + trackers.finish(SUMMARY)
    assert [f"the tracker {OWN}:StartFails failed" in sentence for sentence in said] == [True]
    assert told.rows == [(5, {"a": 1.0})]


def test_nothing_starts_before_the_first_metrics() -> None:
    told = Noting()
    trackers = Trackers(find_trackers([], [told]), RUN)
    assert trackers.finish(SUMMARY) == []
    assert told.end == {}


def test_a_resumed_run_is_told_what_it_is_known_as(tmp_path: Path) -> None:
    def part(first_step: int) -> list[str | None]:
        objects = [Noting(), Noting()]
        trackers = Trackers(find_trackers([], objects), TrackedRun("mine", {}, {}, tmp_path, first_step))
        assert trackers.log({"step": first_step}) + trackers.finish(SUMMARY) == []
        return [told.run.known_as for told in objects]

    assert part(0) == [None, None]
    assert json.loads((tmp_path / FILE).read_text()) == {f"{OWN}:Noting": "first", f"{OWN}:Noting#2": "first"}
    assert part(100) == ["first", "first"]
    (tmp_path / FILE).write_text('{"torn')
    assert part(100) == [None, None]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["wadnb"], "did you mean 'wandb'"),
        (["tensorboard"], "--no-tensorboard"),
        (["wandb", "wandb"], "named once"),
    ],
)
def test_names_that_cannot_be_are_refused(names: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_names(names)


def test_a_class_that_is_not_there_is_refused_before_anything_is_trained() -> None:
    with pytest.raises(UserError, match="no 'Nobody'"):
        find_trackers([f"{OWN}:Nobody"])


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("garrison.system.find_spec", lambda module: None)
    with pytest.raises(UserError, match="MLflow is not installed: pip install"):
        find_trackers(["mlflow"])
