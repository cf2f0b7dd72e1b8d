"""The example and the code in docs/ppo.md run."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_example_trains(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "train_ppo.py"))["main"](102_400)
    assert "compiled on" in capsys.readouterr().out


def test_the_code_in_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "ppo.md").read_text(), re.DOTALL)
    assert code is not None
    exec(code.group(1), {})
    assert float(capsys.readouterr().out) < 0
