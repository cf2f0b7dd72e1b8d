"""Where modules of the package `CybORG` come from: ours, then the user's own trees; what we lack is refused."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
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


class UsersTrees(MetaPathFinder):
    """Finds what people added to their own copy of the package, such as agents; asked after everybody else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the place of a module below a folder named CybORG on the path."""
        package, *parents = fullname.split(".")[:-1] or [""]
        if package != PACKAGE:
            return None
        return PathFinder.find_spec(fullname, [str(tree.joinpath(*parents)) for tree in self.trees()])

    def trees(self) -> list[Path]:
        """Return the folders named CybORG on the path, but for our own."""
        folders = dict.fromkeys(Path(place or ".").absolute() / PACKAGE for place in sys.path)
        return [folder for folder in folders if folder.is_dir() and folder.resolve() != self._folder.resolve()]


def open_package(file: str) -> list[Path]:
    """Rule from now on where the modules of the package in this file's folder come from; return the user's trees."""
    folder = Path(file).parent
    trees = UsersTrees(folder)
    if not any(isinstance(finder, Refuser) for finder in sys.meta_path):
        sys.meta_path.insert(0, Refuser(folder))
        sys.meta_path.append(trees)
    return trees.trees()
