"""A shipped agent is a run's checkpoint without the learner's state, with what made it and what it scored."""

import json
from pathlib import Path

import numpy as np

from garrison.agents.load import SHIPPED
from garrison.agents.ship import ship
from garrison.storage import checkpoint


def test_a_run_becomes_an_agent_that_plays_the_same(tmp_path: Path) -> None:
    known = checkpoint.load(SHIPPED["record"])
    run = tmp_path / "run"
    run.mkdir()
    state = known["state"] | {"adam": np.zeros(3)}
    checkpoint.save(run / checkpoint.NAME, known | {"state": state})
    (run / "summary.json").write_text(json.dumps({"evaluation": known["evaluation"] | {"cells": []}}))
    command = ["garrison", "train", "record", "--out", str(run), "--seed", "1"]
    (run / "versions.json").write_text(json.dumps({"command": command}))
    ship(run, tmp_path / "agents" / "copy.garrison")
    copy = checkpoint.load(tmp_path / "agents" / "copy.garrison")
    assert set(copy) == set(known)
    assert set(copy["state"]) == {"weights", "steps"}
    assert np.array_equal(copy["state"]["weights"], known["state"]["weights"])
    assert copy["made_by"] == "garrison train record --seed 1"
    assert copy["evaluation"] == known["evaluation"]
    assert copy["experiment"]["run"]["out"] == ""
