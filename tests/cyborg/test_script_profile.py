"""A profiled script ends with a table: which way its steps took, and how long they stayed inside."""

from pathlib import Path

import pytest

from tests.helpers.cyborg_scripts import MADE, run_script

pytestmark = pytest.mark.slow

SCRIPT = (
    MADE
    + """
env = ChallengeWrapper("Blue", made(Red=B_lineAgent))
for _ in range(3):
    env.reset()
    for _ in range(10):
        env.step(0)
core = made(Blue=BlueReactRemoveAgent, Red=SleepAgent)
for _ in range(4):
    core.step()
core.get_agent_state("True")
"""
)


def test_bits_and_dicts_are_told_apart(tmp_path: Path) -> None:
    done = run_script(tmp_path, SCRIPT, "--profile")
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    began = next(k for k, line in enumerate(said) if line.startswith("Blue against Red"))
    head, bits, dicts, time = said[began : began + 4]
    assert " ".join(head.split()) == "Blue against Red games resets steps by bits steps by dicts dicts made true states"
    assert bits.split()[-6:] == ["1", "4", "30", "0", "0", "0"]
    assert dicts.split()[-6:] == ["1", "0", "0", "4", "4", "1"]
    assert "BlueReactRemoveAgent against" in dicts
    assert "inside Garrison, the rest the script's own" in time
