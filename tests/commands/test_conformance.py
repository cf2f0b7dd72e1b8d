"""`garrison conformance`: what it prints, and when it exits with 1."""

from pathlib import Path

import numpy as np
import pytest

from garrison import cli

GOLDEN = Path(__file__).parents[1] / "golden"


def test_conformance_without_files_says_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conformance"]) == 2
    assert "at least one trace file" in capsys.readouterr().err


def test_every_file_is_a_row_and_a_difference_is_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = GOLDEN / "head_sleep_30.npz"
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
