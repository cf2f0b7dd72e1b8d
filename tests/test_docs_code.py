"""Every block of Python in the texts runs, as it stands; docs/extend has tests of its own (test_extension_docs.py)."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from garrison import cli
from garrison.runs import session
from tests.helpers.doc_blocks import ROOT, blocks, python_blocks, run_blocks, shorten_runs

TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "api").glob("*.md")])
ELSEWHERE = {
    "jax.md": "tests/jaxsim/test_jax_guide.py",
    "cluster.md": "tests/cluster/test_cluster_guide.py",
    "export.md": "tests/export/test_formats.py",
}
"""Pages whose code needs more than the reference environment, or an exported file and no Garrison; what runs them."""
LONG = {
    "environments.md",
    "evaluation.md",
    "impala.md",
    "limit.md",
    "migration.md",
    "ppo.md",
    "sweep.md",
    "training.md",
    "vector.md",
}
"""Pages that train, start processes or change what `import CybORG` means."""
EXPECTED = ["doctor", "evaluate", "evaluate", "watch", "train", "evaluate", "runs", "train"]
"""The commands of the page for the first ten minutes."""
PAGES = [text for text in TEXTS if python_blocks(text.read_text()) and text.name not in ELSEWHERE]


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    if page.name == "migration.md":  # its imports last as long as the process
        script = "import pathlib, sys; from tests.helpers.doc_blocks import *; run_blocks(pathlib.Path(sys.argv[1]))"
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", script, str(page)], check=True, env=environment, timeout=300)
    else:
        shorten_runs(monkeypatch)
        run_blocks(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in LONG], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if page.name in LONG], ids=lambda page: page.name)
def test_the_longer_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, tmp_path, monkeypatch)


@pytest.mark.long
def test_the_commands_of_getting_started_work_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an update or two in the place of minutes, and ten episodes in the place of a thousand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "score", lambda outcome: None)
    lines = [block.code for block in blocks((ROOT / "docs" / "getting_started.md").read_text()) if block.kind == "sh"]
    text = re.sub(r"--duration (\d+)s", lambda found: f"--steps {1024 * int(found[1])}", "".join(lines))
    commands = [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("garrison ")]
    assert [command[0] for command in commands] == EXPECTED
    for command in commands:
        few = ["--episodes", "10"] if command[0] == "evaluate" else []
        assert cli.main([*command, *few]) == 0, capsys.readouterr().err
    assert (tmp_path / "runs" / "first" / "index.html").exists()


def test_pages_that_are_run_elsewhere_are() -> None:
    for page, test in ELSEWHERE.items():
        assert page in (ROOT / test).read_text()


@pytest.mark.parametrize("text", [*TEXTS, *(ROOT / "docs" / "extend").glob("*.md")], ids=lambda text: text.name)
def test_a_block_says_what_it_is(text: Path) -> None:
    """So that no Python hides from the tests under another name, and what is left out has a reason."""
    found = blocks(text.read_text())
    assert text.read_text().count("\n```") == 2 * len(found)
    assert {block.kind for block in found} <= {"python", "sh", "text", "yaml", "diff"}
    said = re.findall(r"^<!-- not run:", text.read_text(), flags=re.M)
    assert len(said) == sum(len(block.left_out.split()) > 2 for block in found)


def test_code_that_fails_is_noticed_at_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\nmore\n\n```python\nx / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as error:
        run_blocks(page)
    assert error.traceback[-1].lineno == 9  # which counts from 0


def test_what_is_left_out_is_left_out_and_what_goes_before_goes_before(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: it cannot be run -->\n```python\n1 / 0\n```\n"
        "<!-- before, in tests:\nx = 2\n-->\n```python\nassert x == 2\n```\n"
    )
    run_blocks(page)
    assert [block.left_out for block in blocks(page.read_text())] == ["it cannot be run", ""]
