"""Recorded CybORG episodes replay in JAX without a single difference."""

from pathlib import Path

import pytest

pytest.importorskip("jax")

from garrison import cli
from garrison.cage2.traces import Trace, load_trace
from garrison.challenge.conformance import RECORDINGS, replay
from garrison.jaxsim import taped_envs
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


def test_the_command_replays_on_the_engine_that_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    class Watched(TapedEnvs):
        def __init__(self, trace: Trace, encoder: str) -> None:
            made.append(encoder)
            super().__init__(trace, encoder)

    monkeypatch.setattr(taped_envs, "TapedEnvs", Watched)
    assert cli.main(["conformance", "--engine", "jax", str(RECORDINGS / "head_bline_30.npz")]) == 0
    assert "both encoders: 0 mismatches" in capsys.readouterr().out
    assert made == ["challenge", "wrapper2"]
