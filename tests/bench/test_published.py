"""The numbers in the README, the docs and the page are the published results' numbers."""

import json
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import tyro

from garrison import cli
from garrison.bench.publish import bench_page, documents
from garrison.bench.suites import SUITES
from garrison.bench.suites.backend_speed import COSTS
from garrison.errors import UserError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / documents.FOLDER
MEND = "run: garrison bench publish"


@pytest.mark.parametrize("place", documents.PLACES)
def test_the_texts_agree_with_the_published_results(place: str) -> None:
    text = (ROOT / place).read_text()
    assert documents.fill(text, FOLDER, place) == text, MEND


def test_the_page_agrees_with_the_published_results() -> None:
    assert bench_page.build_page(FOLDER).html() == (FOLDER / "index.html").read_text(), MEND


def test_every_table_has_its_place() -> None:
    with pytest.raises(UserError, match=r"README.md has no place for the table 'headline'"):
        documents.fill("# Garrison\n", FOLDER, "README.md")


def test_any_table_is_filled_where_its_marks_stand() -> None:
    marks = "".join(f"<!-- {name} -->\n<!-- end {name} -->\n" for name in documents.TABLES)
    filled = documents.fill(marks, FOLDER, "docs/performance.md")
    for name, table in documents.TABLES.items():
        inside = filled.split(f"<!-- {name} -->\n")[1].split(f"<!-- end {name} -->")[0]
        if all((FOLDER / f"{result}.json").exists() for result in table.results):
            assert "\n|---" in inside
            assert "(../benchmarks/" in inside
        else:
            assert inside == "Not measured for publication yet.\n"
    assert documents.fill(filled, FOLDER, "docs/performance.md") == filled


def test_one_command_mends_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "benchmarks").mkdir()
    for file in FOLDER.rglob("*.json"):
        copy = tmp_path / "benchmarks" / file.relative_to(FOLDER)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(file.read_bytes())
    for place in documents.PLACES:
        (tmp_path / place).parent.mkdir(exist_ok=True)
        marks = "".join(f"<!-- {name} -->\nstale\n<!-- end {name} -->\n" for name in documents.PLACES[place])
        (tmp_path / place).write_text(marks)
    assert cli.main(["bench", "publish", str(tmp_path)]) == 0
    assert "README.md: rewritten" in capsys.readouterr().out
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.md")}
    assert cli.main(["bench", "publish", str(tmp_path)]) == 0
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.md")} == before
    assert "stale" not in "".join((tmp_path / place).read_text() for place in documents.PLACES)
    assert (tmp_path / "benchmarks" / "index.html").read_text() == bench_page.build_page(FOLDER).html()


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_a_published_command_can_be_pasted(file: Path) -> None:
    """A shell takes it apart into words that the suite understands."""
    garrison, bench, suite, *words = shlex.split(json.loads(file.read_text())["method"]["command"])
    assert (garrison, bench) == ("garrison", "bench")
    arguments = tyro.cli(import_module(SUITES[suite][0]).Arguments, args=words)
    assert set(getattr(arguments, "costs", ())) <= set(COSTS)
