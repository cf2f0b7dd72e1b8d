"""Modules come from our package, then from the user's own trees; what only the original has is refused."""

from pathlib import Path

import pytest

from tests.helpers.cyborg_scripts import run_script

pytestmark = pytest.mark.slow

SCRIPT = """
import importlib, os, subprocess, sys
import CybORG
subprocess.run([sys.executable, "-c", "import CybORG"], cwd=os.path.dirname(__file__), check=True)  # a worker
from CybORG.Agents.Mine.careful import Careful
print(CybORG.__file__)
print(*[kind.__name__ for kind in Careful.__mro__])
import CybORG.Shared.Actions.own_action
for name in ("CybORG.Simulator.State", "CybORG.Agents.SimpleAgents.KillchainAgent", "CybORG.Nowhere"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(type(error).__name__, error)
from CybORG.Agents.Wrappers.BaseWrapper import Results
print(Results.__module__)
from CybORG.Shared.Actions import NmapScan
"""


def test_a_users_tree_adds_modules_and_replaces_none(tmp_path: Path) -> None:
    tree = tmp_path / "CybORG"
    (tree / "Agents" / "Mine").mkdir(parents=True)
    (tree / "__init__.py").write_text("raise RuntimeError('the wrong package')")
    (tree / "Agents" / "__init__.py").write_text("raise RuntimeError('the wrong package')")
    (tree / "Agents" / "Mine" / "careful.py").write_text(
        "from CybORG.Agents import SleepAgent\nclass Careful(SleepAgent): pass\n"
    )
    (tree / "Shared" / "Actions").mkdir(parents=True)
    (tree / "Shared" / "Actions" / "own_action.py").write_text("")
    (tree / "Simulator").mkdir()
    (tree / "Simulator" / "State.py").write_text("")

    done = run_script(tmp_path, SCRIPT)
    place, parents, state, killchain, nowhere, passed_on = done.stdout.splitlines()
    assert not Path(place).is_relative_to(tmp_path)
    assert parents == "Careful SleepAgent BaseAgent object"
    sentence = "MissingName not in Garrison: run this part with the original CybORG: CybORG"
    assert state == f"{sentence}.Simulator"  # Python asks for the folder first
    assert killchain == f"{sentence}.Agents.SimpleAgents.KillchainAgent"
    assert nowhere == "ModuleNotFoundError No module named 'CybORG.Nowhere'"
    assert passed_on == "garrison.cyborg.step_results"
    assert done.returncode == 1
    assert "original CybORG: CybORG.Shared.Actions.NmapScan\n" in done.stderr
    assert done.stderr.count(f"{tree} has changes to the published CybORG") == 1
    assert "Agents/__init__.py, Simulator/State.py, __init__.py" in done.stderr
