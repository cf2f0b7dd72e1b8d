"""The front end as one script: order, what is refused, and that every file has its place."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import garrison
from garrison.viewer.bundle import ENTRY, FRONT, STYLES, joined, script, style

MODULES = sorted(FRONT.glob("*.js"))


def test_a_module_stands_after_those_it_imports() -> None:
    sources = {
        "main": 'import { twice } from "./sums.js";\nconsole.log(twice(1));',
        "sums": 'import { ONE } from "./one.js";\nexport function twice(n) {\n  return n + n * ONE;\n}',
        "one": "const HIDDEN = 1;\nexport const ONE = HIDDEN;",
        "unused": "export const NOTHING = 0;",
    }
    text = joined(sources, "main")
    assert re.findall(r"const module_(\w+) =", text) == ["one", "sums", "main"]
    assert "const { ONE } = module_one;" in text
    assert "return { twice };" in text
    assert not re.search(r"\b(import|export)\b", text)


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ({"main": 'import { a } from "./gone.js";'}, "main.js imports gone.js, which does not exist"),
        ({"main": 'import { a } from "./b.js";', "b": "const a = 1;"}, "imports a, which b.js does not export"),
        (
            {"main": 'import { b } from "./b.js";\nexport const a = 1;', "b": 'import { a } from "./main.js";'},
            "does not export",
        ),
        (
            {
                "main": 'import { b } from "./b.js";\nexport const a = 1;',
                "b": 'import { a } from "./main.js";\nexport const b = 1;',
            },
            "circle: main -> b -> main",
        ),
        ({"main": 'import * as all from "./b.js";'}, "not understood"),
        ({"main": "export default 3;"}, "not understood"),
    ],
)
def test_what_is_not_understood_is_refused(sources: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        joined(sources, "main")


def test_every_file_of_the_front_end_is_in_the_page() -> None:
    assert set(re.findall(r"^const module_(\w+) =", script(), flags=re.M)) == {file.stem for file in MODULES}
    assert script().count(f"module_{ENTRY} ") == 1
    assert {file.name for file in FRONT.iterdir()} == {*(file.name for file in MODULES), *STYLES}


def test_every_file_of_the_front_end_is_installed() -> None:
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["garrison"]
    for file in FRONT.iterdir():
        name = str(file.relative_to(Path(garrison.__file__).parent))
        assert any(fnmatch(name, pattern) for pattern in patterns), name


def test_every_import_is_used() -> None:
    for file in MODULES:
        text = file.read_text()
        for names in re.findall(r"^import \{ ([\w, ]+) \}", text, flags=re.M):
            for name in names.split(", "):
                assert len(re.findall(rf"\b{name}\b", text)) > 1, f"{file.name} imports {name} for nothing"


def test_text_never_becomes_markup_or_code() -> None:
    words = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"(style|on)"
    assert re.search(words, script()) is None


def test_nothing_comes_from_outside() -> None:
    urls = set(re.findall(r"https?://[^\s\"')]+", script() + style()))
    assert urls == {"http://www.w3.org/2000/svg"}
    assert "@import" not in style()
    assert "url(" not in style()
