"""Every example, and every Python block of the README and of the guides to learning and watching, runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Those that train take a number of steps: `test_the_training_example_trains` and vector/test_sb3.py pass a small one,
# and cluster/test_rllib.py runs RLlib's in its own environment.
LONG = re.compile("_ppo$|^rllib_")
EXAMPLES = [file for file in sorted((ROOT / "examples").glob("*.py")) if not LONG.search(file.stem)]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs_and_says_something(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(file), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_readme_code_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_the_training_example_trains(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "train_ppo.py"))["main"](102_400)
    assert "compiled on" in capsys.readouterr().out


@pytest.mark.parametrize("guide", ["ppo.md", "impala.md", "watch.md", "text.md"])
def test_the_code_in_the_guides_runs(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / guide).read_text(), re.DOTALL)
    assert code is not None
    exec(code.group(1), {"__name__": "__main__"})
    assert float(capsys.readouterr().out.split()[0]) < 0
