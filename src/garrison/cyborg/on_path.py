"""Putting the drop-in's package before every other CybORG: for this process, and for those that it starts."""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from garrison.cage2.names import DEFAULT_RULES, RULES
from garrison.cyborg.script_settings import API_VARIABLE, APIS, DEFAULT_API, PROFILE_VARIABLE, RULES_VARIABLE
from garrison.cyborg.staging import staged
from garrison.errors import choose


def variables(
    folder: Path, rules: str = DEFAULT_RULES, api: str = DEFAULT_API, is_profiled: bool = False
) -> dict[str, str]:
    """Return the environment variables with which Python finds the package in `folder` and plays as chosen."""
    others = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place and place != str(folder)]
    return {
        "PYTHONPATH": os.pathsep.join([str(folder), *others]),
        RULES_VARIABLE: choose("rules", rules, RULES),
        API_VARIABLE: choose("api", api, APIS),
        PROFILE_VARIABLE: "1" if is_profiled else "0",
    }


def is_installed() -> bool:
    """Say whether `import CybORG` finds Garrison's in this process."""
    return any(getattr(finder, "__name__", "") == "OurCybORG" for finder in sys.meta_path)


def install(rules: str = DEFAULT_RULES, api: str = DEFAULT_API) -> Path:
    """Let `import CybORG` find Garrison's from now on, here and in new processes; return the package's folder."""
    if "CybORG" in sys.modules:
        raise RuntimeError("CybORG was imported already: call garrison.cyborg.install() before anything imports it")
    folder = staged()
    os.environ.update(variables(folder, rules, api))
    sys.path.insert(0, str(folder))
    spec = spec_from_file_location("garrison_cyborg_start", folder / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(module_from_spec(spec))
    return folder
