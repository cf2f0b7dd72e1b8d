"""Every paragraph, draw and quirk that the code cites is explained in docs/rules.md or cage2/quirks.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "garrison"
RULES = (ROOT / "docs" / "rules.md").read_text()
QUIRKS = (SOURCE / "cage2" / "quirks.md").read_text()

PARAGRAPHS = {f"§{number}" for number in re.findall(r"^#+ (\d+(?:\.\d+)?)[. ]", RULES, flags=re.M)}
DRAWS = set(re.findall(r"^\| ([RBAX]\d) \|", RULES, flags=re.M))
EXPLAINED = set(re.findall(r"^\* \*\*(Q\d+)", RULES, flags=re.M))
PLACED = set(re.findall(r"^\| (Q\d+) \|", QUIRKS, flags=re.M))


def missing(text: str) -> set[str]:
    """Return what `text` cites and nobody explains."""
    paragraphs = set(re.findall(r"§\d+(?:\.\d+)?", text))
    draws = {draw for group in re.findall(r"\(([RBAX]\d(?:, [RBAX]\d)*)\)", text) for draw in group.split(", ")}
    quirks = set(re.findall(r"\bQ\d{1,2}\b", text))  # three digits and more are patches of Windows
    return (paragraphs - PARAGRAPHS) | (draws - DRAWS) | (quirks - (EXPLAINED & PLACED))


def test_the_rules_have_their_paragraphs_draws_and_quirks() -> None:
    assert {"§1", "§7.6", "§12.2", "§18"} <= PARAGRAPHS
    assert {"A1", "A2", "A3", "X2", "X3", "X6", "X7"} <= DRAWS
    assert {f"Q{number}" for number in range(1, 19)} == EXPLAINED == PLACED


def test_every_citation_leads_somewhere() -> None:
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.toml"), *ROOT.glob("tests/cage2/test_[!c]*.py")]
    texts = {str(file.relative_to(ROOT)): file.read_text() for file in files}
    assert sum("rules §" in text for text in texts.values()) > 10
    assert {file: found for file, text in texts.items() if (found := missing(text))} == {}
    assert missing(RULES) == set()


@pytest.mark.parametrize("made_up", ["rules §7.7", "rules §99", "the draw (X9)", "draws (X2, B7)", "quirk Q99"])
def test_a_made_up_citation_is_found(made_up: str) -> None:
    assert missing(made_up)


def test_the_quirks_name_functions_that_exist() -> None:
    for module, function in re.findall(r"`(\w+)\.(?!toml)(\w+)`", QUIRKS):
        assert re.search(rf"^def {function}\(", (SOURCE / "cage2" / f"{module}.py").read_text(), flags=re.M), function
