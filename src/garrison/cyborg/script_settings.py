"""What a person chose for a script: environment variables, so that every process that the script starts knows it."""

import os
from pathlib import Path

from garrison.cage2.names import DEFAULT_RULES, RULES
from garrison.errors import choose

RULES_VARIABLE = "GARRISON_CYBORG_RULES"
API_VARIABLE = "GARRISON_CYBORG_API"
PROFILE_VARIABLE = "GARRISON_CYBORG_PROFILE"
VERIFY_VARIABLE = "GARRISON_CYBORG_VERIFY"

APIS = ("gym", "gymnasium")
DEFAULT_API = APIS[0]
"""The original's: `reset` returns the observation, `step` four values."""


def chosen_rules() -> str:
    """Return the rules that every CybORG of this process plays."""
    return choose(RULES_VARIABLE, os.environ.get(RULES_VARIABLE) or DEFAULT_RULES, RULES)


def chosen_api() -> str:
    """Return whose tuples and spaces the Gym wrappers of this process use."""
    return choose(API_VARIABLE, os.environ.get(API_VARIABLE) or DEFAULT_API, APIS)


def is_profiled() -> bool:
    """Say whether this process is to count what its script does."""
    return os.environ.get(PROFILE_VARIABLE) == "1"


def verify_variable(episodes: int, folder: Path) -> dict[str, str]:
    """Return the variable that lets every process note its first episodes in a folder."""
    return {VERIFY_VARIABLE: f"{episodes}:{folder}"}


def is_verified() -> bool:
    """Say whether this process is to note what it plays."""
    return bool(os.environ.get(VERIFY_VARIABLE))


def verified() -> tuple[int, Path]:
    """Return how many episodes of each CybORG are to be noted, and where."""
    episodes, _, folder = os.environ[VERIFY_VARIABLE].partition(":")
    return int(episodes), Path(folder)
