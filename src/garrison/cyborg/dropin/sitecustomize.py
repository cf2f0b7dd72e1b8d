"""Python runs this at its start in every process of `garrison cyborg run` and of a shell of `garrison cyborg env`.

It makes `import CybORG` find the package in this folder, wherever else one lies: a script's own folder is searched
before PYTHONPATH, and many of these scripts lie beside a copy of the original. It has to be small, and imports nothing
of ours.
"""

from __future__ import annotations  # another, older Python may start in the same shell

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))


class OurCybORG:
    """Finds the package `CybORG` in this folder, and nothing else."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return our package's place; None for all other names."""
        return PathFinder.find_spec(name, [HERE]) if name == "CybORG" else None


def put_first() -> None:
    """Let our package be found first and the stand-in for gym last, once a process."""
    if not any(getattr(finder, "__name__", "") == OurCybORG.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, OurCybORG)
    standin = os.path.join(HERE, "gym_standin")
    if standin not in sys.path:
        sys.path.append(standin)


def pass_on() -> None:
    """Run the sitecustomize that Python would have run without this one."""
    elsewhere = [place for place in sys.path if os.path.abspath(place or ".") != HERE]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


put_first()
if __name__ == "sitecustomize":
    pass_on()
