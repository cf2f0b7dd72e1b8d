"""The `garrison` command: a table of commands, each in a module that is imported only when it runs.

A command's module has `main(arguments) -> int`, the exit code. Bad input raises `UserError`, which is printed as one
line, without a traceback.
"""

import os
import sys
from importlib import import_module

from garrison.errors import UserError
from garrison.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("garrison.commands.train", "train an agent: a preset, or settings in a YAML file"),
    "evaluate": (
        "garrison.challenge.evaluation",
        "score a defender by the challenge's protocol",
    ),
    "compare": (
        "garrison.commands.compare",
        "put runs side by side",
    ),
    "race": ("garrison.commands.race", "train presets for equal times, then put them side by side"),
    "plot": ("garrison.report.figures", "draw a run: learning curve, losses, time split, action mix"),
    "workflow": ("garrison.commands.workflow", "train, search and evaluate defenders that fix hosts in a given order"),
    "conformance": (
        "garrison.challenge.conformance",
        "replay recorded CybORG episodes and compare every value",
    ),
    "bench": ("garrison.bench", "measure the simulator and the backends, beside every installed peer"),
    "profile": ("garrison.profile", "where the time of a step goes, for any environment and backend; and what to do"),
    "doctor": ("garrison.commands.doctor", "versions, cores, compiled kernels and a two-second speed check"),
    "demo": (
        "garrison.commands.demo",
        "play the scripted attackers against simple defenders",
    ),
}


def usage() -> str:
    """Return the overview that `garrison --help` prints."""
    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(
        [
            f"garrison {__version__}: cyber-defence agents at the speed of the machine",
            "",
            "usage: garrison COMMAND [options]      (garrison COMMAND --help tells a command's options)",
            "",
            *rows,
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if arguments[0] == "--version":
        print(__version__)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(COMMANDS)}."
        print(f"garrison: no command {name!r}; {hint}", file=sys.stderr)
        return 2
    try:
        code: int = import_module(COMMANDS[name][0]).main(rest)
        return code
    except UserError as error:
        print(f"garrison {name}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # somebody read as much as they wanted: garrison evaluate record | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"garrison {name}: interrupted", file=sys.stderr)
        return 130
