"""The example and the code in docs/ppo.md and docs/impala.md run."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_example_trains(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "train_ppo.py"))["main"](102_400)
    assert "compiled on" in capsys.readouterr().out


@pytest.mark.parametrize("guide", ["ppo.md", "impala.md"])
def test_the_code_in_the_guides_runs(guide: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / guide).read_text(), re.DOTALL)
    assert code is not None
    exec(code.group(1), {"__name__": "__main__"})
    assert float(capsys.readouterr().out.split()[0]) < 0
