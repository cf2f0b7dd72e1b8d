"""What commands need to know of their command line before, or instead of, its parser."""

import sys
from dataclasses import replace
from typing import Any

REPEATED = {"--tracker": "trackers", "--callback": "callbacks"}
"""Flags that may be given several times, and the lists in a run's settings that they fill."""


def value_of(flag: str, arguments: list[str]) -> str | None:
    """Return what the command line says for a flag that must be known before the others are read."""
    for k, word in enumerate(arguments):
        if word.startswith(f"{flag}="):
            return word[len(flag) + 1 :]
        if word == flag and k + 1 < len(arguments):
            return arguments[k + 1]
    return None


def values_of(flag: str, arguments: list[str]) -> list[str]:
    """Return what the command line says for a flag with several values, which must be known before the others."""
    if (first := value_of(flag, arguments)) is None or flag not in arguments:
        return [] if first is None else [first]
    return leading(arguments[arguments.index(flag) + 1 :])


def leading(arguments: list[str]) -> list[str]:
    """Return the words before the first flag."""
    flags = [k for k, word in enumerate(arguments) if word.startswith("-") and not word[1:2].isdigit()]
    return arguments[: flags[0]] if flags else arguments


def with_new_names(arguments: list[str], renamed: dict[str, str]) -> list[str]:
    """Return the arguments with old spellings of flags replaced; each replacement is noted on stderr."""
    found = []
    for word in arguments:
        flag, equals, value = word.partition("=")
        if flag in renamed:
            print(f"garrison: {flag} is now called {renamed[flag]}.", file=sys.stderr)
        found.append(renamed.get(flag, flag) + equals + value)
    return found


def without_repeated(experiment: Any, arguments: list[str]) -> Any:
    """Return settings without the lists that the command line gives: as with other flags, a file's are replaced."""
    lists = {name: () for flag, name in REPEATED.items() if value_of(flag, arguments) is not None}
    return replace(experiment, run=replace(experiment.run, **lists)) if lists else experiment
