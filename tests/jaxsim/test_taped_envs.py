"""Recorded CybORG episodes replay in JAX without a single difference."""

from pathlib import Path

import pytest

pytest.importorskip("jax")

from garrison.cage2.traces import load_trace
from garrison.challenge.conformance import RECORDINGS, replay
from garrison.jaxsim.taped_envs import TapedEnvs

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted([*GOLDEN.glob("*.npz"), *RECORDINGS.glob("*.npz")], key=lambda file: file.name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recording_replays_without_a_difference(file: Path) -> None:
    report = replay(load_trace(file), TapedEnvs)
    assert report.steps > 0
    assert report.mismatches == {}, str(report.first)


@pytest.mark.parametrize("field", ["obs", "obs_cw2", "reward", "access_any", "n_hidden", "red_internal", "decoys"])
def test_a_difference_is_noticed(field: str) -> None:
    trace = load_trace(RECORDINGS / "head_meander_30.npz")
    trace.arrays[field][0, 5, ...] += 1
    # Both encoders show the rest.
    assert replay(trace, TapedEnvs).mismatches == {field: 1 if field.startswith("obs") else 2}
