"""Every example and every Python block of the README runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Those that train take a number of steps; learn/test_examples.py and vector/test_sb3.py pass a small one, and
# cluster/test_rllib.py runs RLlib's in its own environment.
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
