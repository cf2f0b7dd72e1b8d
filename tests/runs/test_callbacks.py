"""Callbacks take part in a run between its updates: stop it, change its attackers, keep checkpoints, or end it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli, load_agent
from garrison.errors import UserError
from garrison.runs import Callback, CallbackFailed, Outcome, continue_run, preset, train
from garrison.storage import checkpoint
from tests.helpers import own_callbacks
from tests.helpers.own_callbacks import Following, Raising, StopAfter, Turning, Unsavable

OWN = own_callbacks.__name__
SETTINGS: dict[str, Any] = {
    "steps": 640,
    "envs": 16,
    "rollout": 10,
    "length": 5,
    "hidden": (8,),
    "minibatches": 2,
    "epochs": 1,
    "evaluate_episodes": 0,
    "tensorboard": False,
    "page": False,
}
ACTORS: dict[str, Any] = {"steps": 640, "envs": 4, "rollout": 10, "hidden": (8,), "tensorboard": False, "page": False}


def run(out: Path | None, callbacks: Sequence[Callback] = (), **settings: Any) -> Outcome:
    return train(preset("ppo-mixed").changed(**SETTINGS | settings), out, progress=False, callbacks=callbacks)


def weights(outcome: Outcome) -> Any:
    return np.asarray(outcome.values["state"]["weights"])


def test_hooks_come_between_updates_in_their_order(tmp_path: Path) -> None:
    followed = Following()
    outcome = run(tmp_path / "run", [followed], steps=320, evaluate_every=320)
    assert outcome.status == "finished"
    assert followed.calls == [
        ("started", 0),
        ("update", 160, 160),
        ("stop?", 160),
        ("update", 320, 320),
        ("stop?", 320),
        ("evaluation", 320, True),
        ("stop?", 320),
    ]
    assert load_agent(str(tmp_path / "run" / "scored.garrison")).rules == "leaderboard"
    assert "stopped_by" not in outcome.summary


def test_a_callback_that_only_looks_changes_no_bit() -> None:
    np.testing.assert_array_equal(weights(run(None)), weights(run(None, [Following(), Callback()])))


def test_a_callback_ends_a_run_which_is_then_finished(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", [Following(), StopAfter(320)], evaluate_episodes=2)
    assert (outcome.status, outcome.summary["stopped_by"], outcome.summary["total_timesteps"]) == (
        "finished",
        "StopAfter",
        320,
    )
    assert "evaluation" in outcome.summary
    assert checkpoint.load(tmp_path / "run")["state"]["steps"] == 320


def test_changed_attackers_go_on_bit_for_bit_after_a_stop(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", [Turning()], steps=960)
    assert not np.array_equal(weights(whole), weights(run(None, steps=960)))
    run(tmp_path / "parts", [Turning(), StopAfter(480)], steps=960)
    kept = checkpoint.load(tmp_path / "parts")["state"]["callbacks"]
    assert kept == {"red": "meander:0.75,bline:0.25", "states": {"Turning": {}, "StopAfter": {}}}
    followed = Following()
    second = continue_run(tmp_path / "parts", progress=False, callbacks=[Turning(), followed])
    np.testing.assert_array_equal(weights(second), weights(whole))
    assert followed.calls[0] == ("started", 480)
    assert "the run had callbacks that are not given now: StopAfter" in (tmp_path / "parts/marks.jsonl").read_text()


def test_a_resumed_callback_has_its_state_and_the_attackers_stay_without_one(tmp_path: Path) -> None:
    run(tmp_path / "run", [Following(), Turning(), StopAfter(320)])
    followed = Following()
    continue_run(tmp_path / "run", progress=False, callbacks=[followed], steps=480)
    assert followed.calls[:2] == [("restored", 5), ("started", 320)]
    assert checkpoint.load(tmp_path / "run")["state"]["callbacks"]["red"] == "meander:0.75,bline:0.25"


@pytest.mark.parametrize(
    ("where", "when"),
    [
        ("started", "at the start"),
        ("after_update", "after the update at step 160"),
        ("should_stop", "asked whether to stop at step 160"),
        ("after_evaluation", "after the evaluation at step 160"),
        ("state", "when its state was saved"),
    ],
)
def test_a_callback_that_raises_ends_the_run_and_is_named(where: str, when: str, tmp_path: Path) -> None:
    with pytest.raises(CallbackFailed, match=rf"the callback Raising failed .*{when} \(ValueError: no such thing\)"):
        run(tmp_path / "run", [Raising(where)], evaluate_every=160)
    assert "in _fail" in (tmp_path / "run" / "error.txt").read_text()
    assert '"failed"' in (tmp_path / "run" / "summary.json").read_text()


def test_a_state_that_a_checkpoint_cannot_hold_is_named(tmp_path: Path) -> None:
    with pytest.raises(CallbackFailed, match=r"Unsavable failed when its state was saved .*plain values"):
        run(tmp_path / "run", [Unsavable()])


def test_a_command_names_callbacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = "--envs 16 --rollout 10 --hidden 8 --evaluate-episodes 0 --no-tensorboard --no-page --quiet"
    named = f"--callback {OWN}:Following --callback {OWN}:StopAfter"
    assert cli.main(f"train ppo-mixed --out {tmp_path}/run {tiny} {named}".split()) == 0
    assert Following.made[-1].calls[0] == ("started", 0)
    assert cli.main(f"train --resume {tmp_path}/run --quiet".split()) == 0  # those of the run, which stop it again
    assert Following.made[-1].calls[0] == ("restored", 3)
    with pytest.raises(SystemExit, match="2"):
        cli.main(f"train ppo-mixed --out {tmp_path}/no {tiny} --callback StopAfter".split())
    assert "module:Class" in capsys.readouterr().err


def test_what_is_no_callback_is_refused() -> None:
    with pytest.raises(UserError, match="dict is no callback: it has no started"):
        run(None, [{}])  # type: ignore[list-item]


def test_impala_calls_back_and_cannot_change_attackers() -> None:
    settings = preset("impala-mixed").changed(**ACTORS, actors=0, batch=1)
    followed = Following()
    outcome = train(settings, progress=False, callbacks=[followed, StopAfter(80)])
    assert outcome.summary["stopped_by"] == "StopAfter"
    assert outcome.summary["total_timesteps"] == 80
    assert [call[:2] for call in followed.calls if call[0] == "update"] == [("update", 40), ("update", 80)]
    with pytest.raises(CallbackFailed, match="set_red works with ppo on CAGE-2's own batch, not with impala"):
        train(settings, progress=False, callbacks=[Turning()])


@pytest.mark.long
def test_a3c_calls_back() -> None:
    followed = Following()
    settings = preset("a3c-mixed").changed(**ACTORS | {"steps": 10_000_000}, actors=1)
    outcome = train(settings, progress=False, callbacks=[followed, StopAfter(1)])
    assert outcome.summary["stopped_by"] == "StopAfter"
    assert ("started", 0) in followed.calls
