"""The doors of docs/migration.md: its code runs, and does what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
ONE_IMPORT, OWN_LOOP = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)


def python(code: str, *, fails: bool = False) -> str:
    """Run code in a process of its own, which may keep the package named CybORG; return what it says."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert bool(done.returncode) == fails, done.stderr
    return done.stderr if fails else done.stdout


@pytest.mark.slow
def test_one_import_is_changed_and_the_rest_of_the_script_is_ours() -> None:
    as_it_was = ONE_IMPORT.replace("from garrison.cyborg import CybORG", "from CybORG import CybORG")
    assert as_it_was != ONE_IMPORT
    said = python(ONE_IMPORT)
    assert said.startswith("DiscoverRemoteSystems 10.0.")
    run = [sys.executable, "-m", "garrison", "cyborg", "run", "-c", as_it_was]
    assert said == subprocess.run(run, capture_output=True, text=True, check=True).stdout


def test_the_import_has_to_come_before_the_originals(tmp_path: Path) -> None:
    (tmp_path / "CybORG.py").touch()
    begin = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import CybORG; "
    assert "CybORG was imported already" in python(begin + "from garrison.cyborg import CybORG", fails=True)
    assert "has no attribute 'Cyborg'" in python("import garrison.cyborg; garrison.cyborg.Cyborg", fails=True)


def test_the_loop_over_a_batch_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(OWN_LOOP, PAGE.name, "exec"), {})
    mean, *shape = capsys.readouterr().out.split(maxsplit=1)
    assert float(mean) < 0
    assert shape == ["(1000, 13)\n"]
