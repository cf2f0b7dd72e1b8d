"""`garrison conformance`: what it prints, and when it exits with 1."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from garrison import cli
from garrison.cage2.names import RULES
from garrison.cage2.traces import load_trace
from garrison.challenge.conformance import RECORDINGS


def test_conformance_without_files_replays_what_is_shipped_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(RECORDINGS.glob("*.npz"))
    assert {(t.rules, t.red) for t in map(load_trace, files)} >= {(r, a) for r in RULES for a in ("bline", "meander")}
    assert sum(file.stat().st_size for file in files) < 300_000
    assert cli.main(["conformance"]) == 0
    out = capsys.readouterr().out
    assert "the selection that comes with Garrison" in out
    assert out.count("      0 mismatches\n") == len(files)


def test_the_shipped_recordings_are_package_data() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert "challenge/recordings/*.npz" in settings["tool"]["setuptools"]["package-data"]["garrison"]


def test_every_file_is_a_row_and_a_difference_is_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = RECORDINGS / "head_sleep_30.npz"
    assert cli.main(["conformance", str(file), str(file)]) == 0
    out = capsys.readouterr().out
    assert out.count("      0 mismatches\n") == 2
    assert "both encoders: 0 mismatches" in out
    with np.load(file) as trace:
        arrays = {name: trace[name].copy() for name in trace.files}
    arrays["reward"][0, 3] -= 1
    np.savez(tmp_path / "changed.npz", **arrays)
    assert cli.main(["conformance", str(file), str(tmp_path / "changed.npz")]) == 1
    out = capsys.readouterr().out
    assert "by field: reward 2" in out  # once under each encoder
    assert "episode 0, step 4, reward" in out


def test_recordings_are_played_from_their_seeds_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = RECORDINGS / "head_meander_30.npz"
    with np.load(file) as trace:
        arrays = {name: trace[name].copy() for name in trace.files}
    for name in arrays:
        if name.startswith("d_"):
            arrays[name][:] = -1  # what was recorded of the draws is not looked at
    np.savez(tmp_path / "untaped.npz", **arrays)
    assert cli.main(["conformance", "--from-seed", str(tmp_path / "untaped.npz")]) == 0
    assert " 0 mismatches" in capsys.readouterr().out
    arrays["seed"][3] += 1
    np.savez(tmp_path / "other.npz", **arrays)
    assert cli.main(["conformance", "--from-seed", str(tmp_path / "other.npz")]) == 1
    assert "episode 3" in capsys.readouterr().out
    del arrays["seed"]
    np.savez(tmp_path / "seedless.npz", **arrays)
    assert cli.main(["conformance", "--from-seed", str(tmp_path / "seedless.npz")]) == 2
    assert "has no seeds to play from" in capsys.readouterr().err


def test_jax_does_not_play_from_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conformance", "--from-seed", "--engine", "jax"]) == 2
    assert "only the engine numba draws as CybORG does" in capsys.readouterr().err
