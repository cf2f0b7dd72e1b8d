"""`garrison cyborg env`: the variables that make every Python of a shell find Garrison's CybORG."""

import shlex
from dataclasses import dataclass

import tyro

from garrison.cage2.names import DEFAULT_RULES
from garrison.cyborg.script_settings import DEFAULT_API


@dataclass(frozen=True)
class Arguments:
    """Print lines for a POSIX shell to run, with `eval "$(garrison cyborg env)"`."""

    rules: str = DEFAULT_RULES
    """`head`, the published repository's, or `leaderboard`, under which the challenge's entries were scored."""
    api: str = DEFAULT_API
    """Whose tuples and spaces the Gym wrappers have: the old `gym`'s as in the original, or `gymnasium`'s."""


def main(arguments: list[str]) -> int:
    """Run `garrison cyborg env`."""
    chosen = tyro.cli(Arguments, prog="garrison cyborg env", args=arguments)

    from garrison.cyborg.on_path import variables
    from garrison.cyborg.staging import staged

    for name, value in variables(staged(), chosen.rules, chosen.api).items():
        print(f"export {name}={shlex.quote(value)}")
    return 0
