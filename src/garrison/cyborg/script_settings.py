"""What a person chose for a script: environment variables, so that every process that the script starts knows it."""

import os

from garrison.cage2.names import DEFAULT_RULES, RULES
from garrison.errors import choose

RULES_VARIABLE = "GARRISON_CYBORG_RULES"
API_VARIABLE = "GARRISON_CYBORG_API"
PROFILE_VARIABLE = "GARRISON_CYBORG_PROFILE"

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
