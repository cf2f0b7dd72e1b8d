"""`garrison doctor`: what is installed, and how fast it is."""

import pytest

from garrison import cli
from garrison.commands import doctor


def test_doctor_reports_versions_kernels_and_speed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "speed", lambda: 5e6)
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    for word in ("numba", "cores", "cache", "kernels", "5.0 million steps/s"):
        assert word in out


def test_the_speed_check_counts_steps() -> None:
    assert doctor.speed(0.05) > 10_000
