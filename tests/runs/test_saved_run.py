"""A checkpoint whose checksum is right and whose contents are not: it works, or one sentence says what is wrong."""

import shutil
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.agents.load import SHIPPED
from garrison.errors import UserError
from garrison.learn.registry import LEARNERS
from garrison.runs.folder import RunFolder
from garrison.runs.resume import resume_values
from garrison.storage import checkpoint, saved_run
from tests.helpers.mutations import mutated

KEPT_BY = {name: learner.keeps for name, learner in LEARNERS.items()}

TINY = "--envs 4 --rollout 8 --hidden 8 --evaluate-episodes 0 --no-tensorboard --quiet"
RUNS = {
    "cage2": "train ppo-mixed --minibatches 2 --epochs 1 --steps 32",
    "gru": "train ppo-mixed --minibatches 2 --epochs 1 --steps 32 --recurrent-size 4",
    "impala": "train impala-mixed --actors 0 --steps 32",
    "cartpole": "train ppo-cartpole --minibatches 2 --epochs 1 --steps 32",
    "a3c": "train a3c-cartpole --actors 1 --steps 32",
    "workflow": "workflow train 0 --minibatches 2 --epochs 1 --episodes 4 --length 8",
}
RESUMED = {"a3c": "", "workflow": "workflow train --episodes 8 --resume"}
"""How else a run is continued; A3C's, which needs processes, is only read."""
EVALUATED = {
    **dict.fromkeys(("cartpole", "a3c"), "evaluate --episodes 2"),
    "workflow": "workflow evaluate --orders 0 --episodes 2 --length 5 --no-baselines",
}
CASES = {"workflow": 25}
SIMULATOR = ("state", "collector", "envs")
"""What is within these bytes is the simulator's to check."""


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / request.param
    assert cli.main(f"{RUNS[request.param]} {TINY} --out {out}".split()) == 0
    return out


def read_as_a_command(folder: Path) -> int:
    """Read what a run continues from; say what is wrong with it and return 2, as a command would."""
    try:
        resume_values(RunFolder(folder))
    except UserError as error:
        print(f"garrison x: {error}", file=sys.stderr)
        return 2
    return 0


@pytest.mark.long
def test_every_wrong_content_still_works_or_is_one_sentence(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(run.name)
    values = checkpoint.load(run)
    refused = 0
    cases = CASES.get(run.name, 75)
    for number in range(cases):
        what, wrong = mutated(values, random, spared=(SIMULATOR,))
        copy = tmp_path / str(number)
        shutil.copytree(run, copy)
        checkpoint.save(copy / checkpoint.NAME, wrong)
        evaluated = EVALUATED.get(run.name, "evaluate --episodes 2 --length 5").split()
        place = 2 if evaluated[0] == "workflow" else 1
        commands = [
            [*RESUMED.get(run.name, "train --steps 64 --resume").split(), str(copy)],
            [*evaluated[:place], str(copy), *evaluated[place:]],
        ]
        for command in commands:
            try:
                code = cli.main(command) if len(command) > 1 else read_as_a_command(copy)
            except BaseException as error:
                raise AssertionError(f"garrison {' '.join(command)} with {what}: {error!r}") from error
            said = capsys.readouterr().err
            if code == 2:
                refused += 1
                assert sum(line.startswith("garrison ") for line in said.splitlines()) == 1, what
            elif code:
                assert "not finite" in said, what  # numbers that are too large may diverge, and say so
    assert refused > 0.4 * cases


def test_a_refusal_names_the_file_the_place_and_what_belongs_there(run: Path) -> None:
    values = checkpoint.load(run)
    values["state"]["steps"] = "many"
    with pytest.raises(UserError, match=r"x is not a usable checkpoint: its state\.steps must be .*; it is 'many'"):
        saved_run.require_run(values, "x", KEPT_BY)
    del values["state"]["adam"]["first"]
    values["state"]["steps"] = 32
    with pytest.raises(UserError, match=r"x is a checkpoint without 'state\.adam\.first'"):
        saved_run.require_run(values, "x", KEPT_BY)


def test_a_network_is_refused_before_its_memory_is_taken() -> None:
    values = checkpoint.load(SHIPPED["record"])
    for change in (
        {"config": values["policy"]["config"] | {"hidden": [10**9, 10**9]}},
        {"config": values["policy"]["config"] | {"recurrent_size": 10**9}},
        {"action_space": {"kind": "Discrete", "n": 10**12, "start": 0}},
        {"action_space": {"kind": "MultiDiscrete", "nvec": np.array([2**40]), "start": np.array([0])}},
        {"observation_space": {"kind": "MultiBinary", "shape": [10**6, 10**6]}},
    ):
        with pytest.raises(UserError, match="weights"):
            saved_run.require_agent(values | {"policy": values["policy"] | change}, "x")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_agents_hold_an_agent_and_no_run(name: str) -> None:
    values: dict[str, Any] = checkpoint.load(SHIPPED[name])
    saved_run.require_agent(values, name)
    with pytest.raises(UserError, match="without"):
        saved_run.require_run(values, name, KEPT_BY)
