"""Agents that no recording covers: a person's, a saved network's, and those that are refused."""

from pathlib import Path

import pytest

from tests.helpers.cyborg_scripts import MADE, lines_of

pytestmark = pytest.mark.slow

SCRIPT = (
    MADE
    + """
import builtins
from CybORG.Agents.SimpleAgents.BlueLoadAgent import BlueLoadAgent

answers = iter(["nonsense", "analyse", "1"])
builtins.input = lambda prompt: next(answers)
core = made(Red=SleepAgent)
result = core.reset("Blue")
print("chosen:", KeyboardAgent().get_action(result.observation, core.get_action_space("Blue")))
for use in (GreenAgent, lambda: BlueLoadAgent().get_action(None, 145), lambda: made(Green=GreenAgent)):
    try:
        use()
    except NotImplementedError as error:
        print("refused:", error)

agent = TestFlatFixedAgent()
flat = FixedFlatWrapper(made(Red=SleepAgent)).reset("Blue").observation
print("flat:", 0 <= agent.get_action(flat, 145) < 145)

import sys
sys.modules["prettytable"] = None
try:
    BlueTableWrapper(core).reset("Blue")
except ValueError as error:
    print("table:", error)
vector = BlueTableWrapper(core, output_mode="vector").reset("Blue").observation
print("vector:", vector.sum(), vector.shape)
"""
)


def test_they_play_or_say_why_not(tmp_path: Path) -> None:
    said = [line for line in lines_of(tmp_path, SCRIPT) if line.partition(":")[0] in FIRST_WORDS]
    chosen, green, load, inside, flat, table, vector = said
    assert chosen == "chosen: Analyse Enterprise0"
    assert green.startswith(
        "refused: not in Garrison: run this part with the original CybORG: CybORG.Agents.GreenAgent"
    )
    assert "BlueLoadAgent without a model file" in load
    assert "Green" in inside
    assert flat == "flat: True"
    assert table.startswith("table: PrettyTable is not installed: pip install")
    assert vector == "vector: 0 (52,)"


FIRST_WORDS = ("chosen", "refused", "flat", "table", "vector")
