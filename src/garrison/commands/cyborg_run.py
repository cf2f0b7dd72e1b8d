"""`garrison cyborg run SCRIPT`: a script that imports CybORG gets Garrison's."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tyro

from garrison.cage2.names import DEFAULT_RULES
from garrison.cyborg.script_settings import DEFAULT_API

FLAGS = ("--profile", "--no-profile", "-h", "--help")
"""Our options that take no value; all others take the word after them."""


@dataclass(frozen=True)
class Arguments:
    """Run a script, `-m MODULE` or `-c CODE` as Python would, with Garrison's CybORG in the place of the original.

    Options come before the script; everything after it is the script's.
    """

    rules: str = DEFAULT_RULES
    """`head`, the published repository's, or `leaderboard`, under which the challenge's entries were scored."""
    api: str = DEFAULT_API
    """Whose tuples and spaces the Gym wrappers have: the old `gym`'s as in the original, or `gymnasium`'s."""
    profile: bool = False
    """At the end, say which path the script took through the simulator and where its time went."""
    verify: int = 0
    """At the end, play the first N episodes of every CybORG again in the original, and compare every observation,
    reward and draw; exit with 1 at the first difference."""
    original: str = ""
    """For --verify: the folder with the original's package; by default the CybORG that Python finds without ours."""
    original_python: str = ""
    """For --verify: an interpreter that has what the original needs; by default this one."""


def main(arguments: list[str]) -> int:
    """Run `garrison cyborg run`; the exit code is the script's."""
    ours, target = split(arguments)
    chosen = tyro.cli(Arguments, prog="garrison cyborg run", args=ours)

    from garrison.cyborg.on_path import variables
    from garrison.cyborg.script_process import command, run
    from garrison.cyborg.staging import staged

    command(target)  # complains before anything is staged
    folder = staged()
    settings = variables(folder, chosen.rules, chosen.api, chosen.profile)
    if not chosen.verify:
        return run(target, settings, folder)

    from garrison.cyborg.script_settings import verify_variable
    from garrison.cyborg.verify import Verification, checked_episodes, find_original

    episodes = checked_episodes(chosen.verify)
    original = find_original(chosen.original, folder, target)
    with tempfile.TemporaryDirectory() as played:
        code = run(target, {**settings, **verify_variable(episodes, Path(played))}, folder)
        verification = Verification(Path(played), chosen.rules, original, folder, chosen.original_python)
        print(f"garrison cyborg run --verify: {verification.compare()}", file=sys.stderr)
    return code


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return our own options, and the script with its arguments."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-") and arguments[position] not in ("-m", "-c"):
        takes_value = arguments[position] not in FLAGS and "=" not in arguments[position]
        position += 1 + takes_value
    return arguments[:position], arguments[position:]
