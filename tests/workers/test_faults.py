"""Faults keep their parts as fields, on their way and when they arrive."""

import pickle
from typing import Any

import pytest

from garrison.errors import GarrisonError, UserError
from garrison.workers.faults import EnvFailed, EnvTimeout, Failure, WorkerDied, describe_exit


def sent(error: Exception) -> Failure:
    try:
        raise error
    except Exception as raised:
        failure: Failure = pickle.loads(pickle.dumps(Failure.of(raised)))
        return failure


def test_any_exception_arrives_with_its_kind_and_message() -> None:
    failure = sent(ValueError("the dragon woke up"))
    assert (failure.kind, failure.message) == ("ValueError", "the dragon woke up")
    assert failure.what == "raised ValueError: the dragon woke up"
    with pytest.raises(EnvFailed, match=r"^a worker raised ValueError: the dragon woke up\n") as caught:
        failure.raise_()
    assert caught.value.summary == "a worker raised ValueError: the dragon woke up"
    assert "raise error" in caught.value.details


def test_an_environments_failure_keeps_its_number_and_sentence() -> None:
    failure = sent(EnvFailed("environment 3 raised", index=3, hint="Mend it."))
    assert (failure.what, failure.index) == ("environment 3 raised", 3)
    with pytest.raises(EnvFailed) as caught:
        failure.raise_()
    assert (caught.value.summary, caught.value.index, caught.value.hint) == ("environment 3 raised", 3, "Mend it.")


def test_bad_input_stays_bad_input() -> None:
    with pytest.raises(UserError) as caught:
        sent(UserError("there is no scenario 7.", hint="Use 2.")).raise_()
    assert (caught.value.summary, caught.value.hint) == ("there is no scenario 7.", "Use 2.")


@pytest.mark.parametrize(
    ("error", "kind", "fields"),
    [
        (EnvFailed("it broke.", index=2, details="there"), RuntimeError, {"index": 2, "details": "there"}),
        (EnvTimeout("it is stuck.", worker=1, index=2, hint="Wait."), TimeoutError, {"worker": 1, "index": 2}),
        (WorkerDied("it died.", worker=1, hint="Restart."), RuntimeError, {"worker": 1, "hint": "Restart."}),
    ],
)
def test_errors_are_garrisons_and_pythons_and_survive_pickling(
    error: GarrisonError, kind: type[Exception], fields: dict[str, Any]
) -> None:
    again = pickle.loads(pickle.dumps(error))
    for each in (error, again):
        assert isinstance(each, GarrisonError)
        assert isinstance(each, kind)
        assert each.summary.startswith("it ")
        assert {name: getattr(each, name) for name in fields} == fields
    assert str(again) == str(error)


def test_how_a_process_ended() -> None:
    assert describe_exit(-9) == "was killed by SIGKILL"
    assert describe_exit(7) == "ended by itself with exit code 7"
