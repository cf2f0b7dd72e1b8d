"""Where modules of the package `CybORG` come from: ours, then the user's own trees; what we lack is refused."""

import sys
from collections.abc import Iterable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from garrison.cyborg.refusal import MissingName, original_names

PACKAGE = "CybORG"


class Refuser(MetaPathFinder):
    """Refuses modules that the original has and we do not, even if a tree of the user's has a copy of them.

    Such a copy would import the original's simulator beside ours, and nobody would notice which of them plays.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Find nothing: raise for what we lack, and leave all else to Python."""
        if fullname not in original_names()["modules"] or fullname == PACKAGE:
            return
        place = self._folder.joinpath(*fullname.split(".")[1:])
        if not place.with_suffix(".py").is_file() and not place.is_dir():
            raise MissingName(fullname)


def open_package(file: str) -> None:
    """Begin refusing what the package in this file's folder lacks; once a process."""
    if not any(isinstance(finder, Refuser) for finder in sys.meta_path):
        sys.meta_path.insert(0, Refuser(Path(file).parent))


def extended(path: list[str], package: str) -> list[str]:
    """Return a package's `__path__`, followed by the folders of the same name in the user's trees."""
    parent, _, name = package.rpartition(".")
    places: Iterable[str] = sys.modules[parent].__path__ if parent else sys.path
    found = [Path(place or ".").absolute() / name for place in places]
    ours = {Path(folder).resolve() for folder in path}
    return [
        *path,
        *(str(folder) for folder in dict.fromkeys(found) if folder.is_dir() and folder.resolve() not in ours),
    ]
