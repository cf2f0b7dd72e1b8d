"""What commands need to know of their command line before, or instead of, its parser."""

import sys
from collections.abc import Collection
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


def own_flags(arguments: list[str], own: Collection[str]) -> tuple[list[str], list[str]]:
    """Divide a command line: the flags `own` with their values, and all others with theirs, for another parser.

    >>> own_flags(["--seeds", "3", "--steps", "9", "--json"], {"--seeds", "--json"})
    (['--seeds', '3', '--json'], ['--steps', '9'])
    """
    mine: list[str] = []
    others: list[str] = []
    place = mine
    for word in arguments:
        if is_flag(word):
            place = mine if word.split("=")[0] in own else others
        place.append(word)
    return mine, others


def is_flag(word: str) -> bool:
    """Return whether a word is a flag, and not a value: a number may begin with a minus sign."""
    return word.startswith("-") and not word[1:2].isdigit()


def leading(arguments: list[str]) -> list[str]:
    """Return the words before the first flag."""
    flags = [k for k, word in enumerate(arguments) if is_flag(word)]
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
