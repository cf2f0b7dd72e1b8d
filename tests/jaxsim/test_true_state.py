"""The true state by the compiled engine's names."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")

import jax

from garrison.cage2.scenario import DEFAULT_FILE
from garrison.cage2.truth import Truth
from garrison.jaxsim import TrueState, true_state
from tests.helpers.jax_twin import Twin


def test_it_has_the_fields_of_the_compiled_engine() -> None:
    assert TrueState._fields == Truth.__slots__


def test_it_is_the_compiled_engines_at_every_step(tmp_path: Path) -> None:
    # The foothold costs something here, so that a step's terms differ from those of no step.
    file = tmp_path / "mine.toml"
    file.write_text(DEFAULT_FILE.read_text().replace("confidentiality = 0.0", "confidentiality = 0.3"))
    twin = Twin(64, seed=11, red="external", length=60, scenario=file)
    spell_out = jax.jit(jax.vmap(true_state, in_axes=(0, None)))
    for _ in range(90):
        truth = spell_out(twin.state, twin.params)
        for name in TrueState._fields:
            expected = getattr(twin.batch.truth, name)
            expected = expected.astype(np.float32) if expected.dtype.kind == "f" else expected
            np.testing.assert_array_equal(getattr(truth, name), expected, name)
        twin.play(1)
