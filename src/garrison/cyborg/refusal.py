"""What the original CybORG has and Garrison does not: known by name, and refused with one sentence."""

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from garrison.errors import GarrisonError

SENTENCE = "not in Garrison: run this part with the original CybORG"


class NotInGarrison(GarrisonError, NotImplementedError):
    """Something of the original that was asked for and is not here."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{SENTENCE}: {what}")
        self.what = what


class MissingName(NotInGarrison, ImportError):
    """A module of the original, or a name that it exports.

    An ImportError also for names: of an AttributeError Python would drop the message in `from module import name`.
    """


@cache
def original_names() -> dict[str, dict[str, list[str]]]:
    """Return the names of the published CybORG: of its `modules` what each exports, of its `classes` the attributes."""
    names: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("original_names.json").read_text())
    return names


HOMES = ("CybORG", "CybORG.Shared", "CybORG.Shared.Actions", "CybORG.Shared.Enums", "CybORG.Agents")
"""Packages of ours from which the original's modules import, so that their names can be had from those modules too."""


def refuses(module: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of one of our modules: names that only the original's has are refused."""

    def __getattr__(name: str) -> Any:
        if name in original_names()["modules"].get(module, ()):
            for home in HOMES:
                if name in (known := vars(import_module(home))):
                    return known[name]
            raise MissingName(f"{module}.{name}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)

    return __getattr__
