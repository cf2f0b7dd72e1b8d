"""`garrison cyborg NAME`: scripts that were written for CybORG, unchanged, on this simulator."""

from importlib import import_module

from garrison.errors import choose

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("garrison.commands.cyborg_run", "run a script with Garrison's CybORG: the same seed, the same episodes"),
    "env": ("garrison.commands.cyborg_shell", 'the same for all of a shell: eval "$(garrison cyborg env)"'),
    "check": ("garrison.commands.cyborg_check", "list what a script uses of CybORG, and what of it is missing here"),
}


def main(arguments: list[str]) -> int:
    """Run the command named first in `arguments` with the rest as its options, and return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, COMMANDS))
        rows = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
        print("\n".join(["usage: garrison cyborg NAME [options]      (garrison cyborg NAME --help)", "", *rows]))
        return 0
    name, *rest = arguments
    choose("cyborg command", name, list(COMMANDS))
    code: int = import_module(COMMANDS[name][0]).main(rest)
    return code
