"""The layout shows the architecture: few modules at the top, tests beside their package, one name for one thing."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import garrison

TESTS = Path(__file__).parent
SOURCE = Path(garrison.__file__).parent

TOP = {"__init__", "__main__", "cli", "errors", "formatting", "registration", "system", "version"}
CROSSWAYS = {"browser", "faults", "golden", "helpers", "learning", "peers", "properties"}
"""Folders of tests that are about no single package."""

DROP_IN = SOURCE / "cyborg" / "dropin"
"""Packages with other people's names: what their files and classes are called is an interface."""

SAME_FILES = {
    "__init__.py": "every package has one",
    "__main__.py": "what python -m runs",
    "registry.py": "several packages choose by name, each from a table of its own",
    "conformance.py": "the command, and the library whose results it prints",
    "cyborg.py": "the original CybORG as an environment, and the command for scripts that were written for it",
    "workflow.py": "an order of fixes: in the simulator, its scripted agents, and the command",
}
SAME_CLASSES = {
    "Action": "a row of the simulator's table, and what CybORG's agents choose",
    "Arguments": "every command has one",
}


def trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(folder.rglob("*.py")):
        yield file.relative_to(folder), ast.parse(file.read_text())


def twice(places: dict[str, list[str]], allowed: dict[str, str]) -> dict[str, list[str]]:
    return {name: found for name, found in places.items() if len(found) > 1 and name not in allowed}


def test_the_top_level_has_few_modules() -> None:
    assert {file.stem for file in SOURCE.glob("*.py")} == TOP


def test_tests_lie_beside_their_package() -> None:
    folders = {file.parent.relative_to(TESTS) for file in TESTS.rglob("test_*.py")} - {Path()}
    strangers = {str(path) for path in folders if path.parts[0] not in CROSSWAYS and not (SOURCE / path).is_dir()}
    assert strangers == set()
    assert all((TESTS / path / "__init__.py").exists() for path in folders)


def test_nothing_is_imported_from_a_test_file() -> None:
    of_a_test = re.compile(r"\b(from|import)\s+(tests\.)?([\w.]+\.)?test_\w+\b|from\s+tests\.\w+\s+import\s+test_\w+")
    found = {
        str(file.relative_to(TESTS)): match[0]
        for file in TESTS.rglob("*.py")
        for match in of_a_test.finditer(file.read_text())
    }
    assert found == {}


def test_helpers_are_imported_one_way() -> None:
    helpers = {file.stem for file in (TESTS / "helpers").glob("*.py")} - {"__init__"}
    for file, tree in trees(TESTS):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in helpers, file
                assert node.level == 0, file


def test_no_two_files_have_one_name() -> None:
    places = defaultdict(list)
    for file in SOURCE.rglob("*.py"):
        if not file.is_relative_to(DROP_IN):
            places[file.name].append(str(file))
    assert twice(places, SAME_FILES) == {}


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for file, tree in trees(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not (SOURCE / file).is_relative_to(DROP_IN):
                places[node.name].append(str(file))
    assert twice(places, SAME_CLASSES) == {}
