"""Every page of docs/extend does what it says: its changes are made to a copy of the package, then its code runs.

In a page, a Python block that begins with `# src/garrison/...` is a new file. A diff block begins with
`+++ src/garrison/...` and has hunks of unchanged, added and removed lines, with `@@` between them. All other Python
blocks are run in order, as one script. A page that changes the package runs with its kernels as plain Python, because
compiling them for a copy takes too long here.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "extend"
PAGES = sorted(set(FOLDER.glob("*.md")) - {FOLDER / "README.md"})
BLOCK = re.compile(r"^```(python|diff)\n(.*?)^```", flags=re.M | re.S)
NEW_FILE = re.compile(r"# (src/garrison/\S+)\n")


def apply(diff: str, folder: Path) -> None:
    """Change a file as a diff block says; every hunk must fit in exactly one place."""
    head, *lines = diff.splitlines()
    file = folder / head.removeprefix("+++ ")
    text = file.read_text()
    for hunk in "\n".join(lines).split("\n@@\n"):
        before = "".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[:1] != "+")
        after = "".join(f"{line[1:]}\n" for line in hunk.splitlines() if line[:1] != "-")
        assert text.count(before) == 1, f"{file.name} has {text.count(before)} places for\n{before}"
        text = text.replace(before, after)
    file.write_text(text)


def run_page(page: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Make a page's changes in `folder` and run its script."""
    script, environment = "", dict(os.environ)
    blocks = BLOCK.findall(page)
    assert blocks
    if any(kind == "diff" or NEW_FILE.match(code) for kind, code in blocks):
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        environment |= {"PYTHONPATH": str(folder / "src"), "NUMBA_DISABLE_JIT": "1"}
        script = f"import garrison\nassert garrison.__file__.startswith({str(folder)!r})\n"
    for kind, code in blocks:
        if kind == "diff":
            apply(code, folder)
        elif name := NEW_FILE.match(code):
            (folder / name[1]).write_text(code)
        else:
            script += code
    (folder / "page.py").write_text(script)
    return subprocess.run(
        [sys.executable, "page.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    result = run_page(page.read_text(), tmp_path)
    assert result.returncode == 0, result.stderr


def test_the_index_has_every_page() -> None:
    linked = re.findall(r"\]\((\w+\.md)\)", (FOLDER / "README.md").read_text())
    assert sorted(linked) == [page.name for page in PAGES]


def test_a_page_that_does_not_fit_the_code_is_noticed(tmp_path: Path) -> None:
    page = "```diff\n+++ src/garrison/version.py\n no such line\n+a new one\n```\n"
    with pytest.raises(AssertionError, match=r"version\.py has 0 places"):
        run_page(page, tmp_path)


def test_a_page_whose_code_fails_is_noticed(tmp_path: Path) -> None:
    assert "ZeroDivisionError" in run_page("```python\n1 / 0\n```\n", tmp_path).stderr
