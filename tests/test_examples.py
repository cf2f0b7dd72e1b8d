"""Every example runs, the notebook too."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Those that train take a number of steps: `test_the_training_example_trains` and vector/test_sb3.py pass a small one,
# and cluster/test_rllib.py runs RLlib's in its own environment.
LONG = re.compile("_ppo$|^rllib_")
NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"
EXAMPLES = [file for file in sorted((ROOT / "examples").glob("*.py")) if not LONG.search(file.stem)]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs_and_says_something(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(file), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_training_example_trains(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "train_ppo.py"))["main"](102_400)
    assert "compiled on" in capsys.readouterr().out


def test_the_notebook_runs(tmp_path: Path) -> None:
    """In a kernel of its own, as Jupyter would."""
    script = (
        "import nbformat, nbclient, sys; book = nbformat.read(sys.argv[1], 4); nbclient.NotebookClient(book).execute();"
        "print(sum(len(cell.get('outputs', [])) for cell in book.cells))"
    )
    command = [sys.executable, "-c", script, str(NOTEBOOK)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.split()[-1]) >= 6


def test_the_notebook_is_stored_without_what_it_printed() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_the_list_of_examples_has_every_one() -> None:
    linked = set(re.findall(r"\]\(([\w./]+)\)", (ROOT / "examples" / "README.md").read_text()))
    files = {str(file.relative_to(ROOT / "examples")) for file in (ROOT / "examples").rglob("*.*")}
    assert linked == {name for name in files if "__pycache__" not in name} - {"README.md"}
