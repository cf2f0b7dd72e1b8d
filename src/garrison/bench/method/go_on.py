"""Going on: the rows of a command with the rounds that an earlier run of it has left."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from garrison.bench.method.fresh import Configuration, Sample
from garrison.bench.method.measurement import Measurement
from garrison.errors import UserError

SAME = ("cpu", "cores", "python", "versions", "git", "sim_hash")
"""Facts of machine and code that rounds of one result have in common."""


def measured_before(
    configurations: Sequence[Configuration],
    earlier: dict[str, Any],
    facts: dict[str, Any],
    method: dict[str, float],
) -> list[Measurement]:
    """Return the rows with their stored samples; refuse a result of other code, another machine or other settings.

    Rows keep their stored arguments, in which the work of a step was calibrated: the next rounds do the same work.
    """
    if str(facts["git"]).endswith("+changes"):
        raise UserError("--go-on needs a tree without changes: commit them, or the rounds may be of different code.")
    for key in SAME:
        had, has = earlier["machine"].get(key), facts[key]
        if had != has:
            raise UserError(f"--go-on needs the result's machine and code: its {key} was {had}, now it is {has}.")
    stored, made_by = earlier["results"], earlier["method"]
    are_its_rows = [row["labels"] for row in stored] == [each.labels for each in configurations]
    if not are_its_rows or any(made_by[key] != value for key, value in method.items()):
        raise UserError(f"--go-on needs the result's settings: it was made by {made_by['command']!r}.")
    return [
        Measurement(replace(each, arguments=row["arguments"]), tuple(Sample(**s) for s in row["samples"]), row["error"])
        for each, row in zip(configurations, stored, strict=True)
    ]
