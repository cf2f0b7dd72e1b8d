"""The pages of docs/extend: their code as a module, and their other blocks."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "extend"


def block(page: str, kind: str) -> str:
    """Return the first block of that kind: python, text, yaml."""
    return str(re.findall(rf"```{kind}\n(.*?)```", (PAGES / page).read_text(), flags=re.S)[0])


def module_of(page: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the page's Python as the module `name`; its file is in `folder`, so that its source can be found."""
    file = folder / f"{name.rpartition('.')[2]}.py"
    file.write_text(block(page, "python"))
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module
