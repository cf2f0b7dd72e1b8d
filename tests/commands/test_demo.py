"""`garrison demo`: every defender against every attacker."""

import pytest

from garrison import cli


def test_demo_plays_every_pairing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "--episodes", "50", "--length", "30"]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()[2:6]}
    assert set(rows) == {"sleep", "uniform", "shield", "restore"}
    assert rows["sleep"][-3:] == ["0.00", "±", "0.00"]
    assert float(rows["restore"][0]) > float(rows["sleep"][0])
