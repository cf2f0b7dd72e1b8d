"""The vocabulary of stages: every stage has a colour that terminals, figures and pages know."""

import pytest
from rich.color import Color

from garrison.learn import stages
from garrison.vector.timing.parts import PARTS
from garrison.viewer.palette import NUM_SERIES, PALETTE, light, of_series


def test_every_stage_and_part_has_a_colour_that_terminals_and_figures_know() -> None:
    for stage in (*stages.ON_DEVICE, *stages.ASYNCHRONOUS, *(f"step_{part}" for part in PARTS), "unheard_of"):
        name = stages.colour(stage)
        assert Color.parse(name).name == name
        assert light(name).startswith("#")
    assert set(stages.COLOURS) == {*stages.ON_DEVICE, *stages.ASYNCHRONOUS, *(f"step_{part}" for part in PARTS)}


def test_stages_are_told_apart() -> None:
    whole = [stages.colour(stage) for stage in ("device", *stages.ASYNCHRONOUS)]
    divided = [stages.colour(f"step_{part}") for part in PARTS]
    assert len({*whole, *divided}) == len(whole) + len(divided) - 1  # step_compute is what step was
    assert len(set(PALETTE.values())) == len(PALETTE)
    assert of_series(NUM_SERIES) == of_series(0)


def test_every_learner_names_stages_of_the_loop_in_its_order() -> None:
    for some in (stages.SYNCHRONOUS, stages.ACTOR, stages.COLLECTING, stages.LEARNING):
        assert stages.in_order(reversed(some)) == list(some)
        assert set(some) <= set(stages.ASYNCHRONOUS)
    assert stages.in_order(reversed(stages.ON_DEVICE)) == list(stages.ON_DEVICE)


def test_metrics_and_seconds_are_each_others_inverse() -> None:
    spent = {"act": 1.0, "step_wait": 0.5, "step_compute": 1.5, "learn": 4.0}
    row = {"step": 10.0, **stages.to_metrics(spent)}
    assert stages.from_metrics(row) == spent
    assert stages.total(row, stages.COLLECTING) == pytest.approx(3.0)
    assert stages.total(row, stages.LEARNING) == 4.0
