"""The numbers in the README, the docs and the page are the published results' numbers."""

from pathlib import Path

import pytest

from garrison.bench import page, published
from garrison.errors import UserError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / published.FOLDER
MEND = "run: python -m garrison.bench.published"


@pytest.mark.parametrize("place", published.PLACES)
def test_the_texts_agree_with_the_published_results(place: str) -> None:
    text = (ROOT / place).read_text()
    assert published.fill(text, FOLDER, place) == text, MEND


def test_the_page_agrees_with_the_published_results() -> None:
    assert page.build(FOLDER).html() == (FOLDER / "index.html").read_text(), MEND


def test_every_table_has_its_place() -> None:
    with pytest.raises(UserError, match=r"README.md has no place for the table 'sim'"):
        published.fill("# Garrison\n", FOLDER, "README.md")


def test_any_table_is_filled_where_its_marks_stand() -> None:
    marks = "".join(f"<!-- {name} -->\n<!-- end {name} -->\n" for name in published.TABLES)
    filled = published.fill(marks, FOLDER, "docs/performance.md")
    for name, (result, _) in published.TABLES.items():
        inside = filled.split(f"<!-- {name} -->\n")[1].split(f"<!-- end {name} -->")[0]
        if (FOLDER / f"{result}.json").exists():
            assert inside.startswith("|")
            assert "(../benchmarks/" in inside
        else:
            assert inside == "Not measured for publication yet.\n"
    assert published.fill(filled, FOLDER, "docs/performance.md") == filled


def test_one_command_mends_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    for file in FOLDER.rglob("*.json"):
        copy = tmp_path / "benchmarks" / file.relative_to(FOLDER)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(file.read_bytes())
    for place in published.PLACES:
        (tmp_path / place).parent.mkdir(exist_ok=True)
        marks = "".join(f"<!-- {name} -->\nstale\n<!-- end {name} -->\n" for name in published.PLACES[place])
        (tmp_path / place).write_text(marks)
    published.main(tmp_path)
    assert "stale" not in "".join((tmp_path / place).read_text() for place in published.PLACES)
    assert (tmp_path / "benchmarks" / "index.html").read_text() == page.build(FOLDER).html()
