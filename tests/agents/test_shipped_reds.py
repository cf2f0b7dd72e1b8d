"""The attackers that come with the package do what is published, with nothing installed but the core."""

import subprocess
import sys

import pytest

import garrison
from garrison.agents.learned_red import SHIPPED_REDS
from garrison.storage import checkpoint

NAMES = ["red-vs-react-restore", "red-vs-record"]
MET = {"react-restore": "react-restore", "record": "record-1"}
"""The defender that each learned against, and what it is called now."""


def test_they_are_there_and_small_and_say_what_made_them() -> None:
    assert sorted(SHIPPED_REDS) == sorted(NAMES)
    for name, file in SHIPPED_REDS.items():
        values = checkpoint.load(file)
        assert values["made_by"].startswith(f"garrison train {name}")
        assert file.stat().st_size < 250_000
        assert set(values["state"]) == {"weights", "steps"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_one_takes_more_from_its_defender_than_the_scripted_attackers(name: str) -> None:
    values = checkpoint.load(SHIPPED_REDS[name])
    blue, published = garrison.load_agent(MET[values["experiment"]["env"]["blue"]]), values["evaluation"]
    result = garrison.evaluate(blue, "leaderboard", 200, 7, ["bline", "meander", name], [30, 100])
    for length in (30, 100):
        bline, meander, learned = (cell for cell in result.cells if cell.length == length)
        assert learned.mean + 3 * learned.stderr < min(bline.mean, meander.mean)
    assert -learned.mean == pytest.approx(published["mean"], abs=4 * (learned.stderr + published["ci95"] / 1.96))


def test_playing_needs_no_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None
import garrison
print(garrison.evaluate(garrison.load_agent("sleep"), episodes=2, reds=["red-vs-react-restore"], lengths=[5]).total)
"""
    assert float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) <= 0
