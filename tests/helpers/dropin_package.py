"""The package named CybORG for one test: on the path inside, and out of everybody's sight afterwards."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import garrison.cyborg

DROPIN = Path(garrison.cyborg.__file__).parent / "dropin"
SCENARIO = DROPIN / "CybORG" / "Shared" / "Scenarios" / "Scenario2.yaml"


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "CybORG"]:
        del sys.modules[name]


@contextmanager
def dropped_in() -> Iterator[Any]:
    """Give our package CybORG; who looked for the original before, finds it again afterwards."""
    finders, path = list(sys.meta_path), list(sys.path)
    hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "CybORG"}
    _forget()
    sys.path.insert(0, str(DROPIN))
    try:
        import CybORG

        yield CybORG
    finally:
        _forget()
        sys.modules.update(hidden)
        sys.meta_path[:], sys.path[:] = finders, path
