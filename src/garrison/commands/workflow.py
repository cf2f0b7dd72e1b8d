"""`garrison workflow NAME`: train, search and evaluate defenders that fix kinds of hosts in a given order."""

from importlib import import_module

from garrison.errors import choose

COMMANDS: dict[str, tuple[str, str]] = {
    "train": (
        "garrison.commands.workflow_train",
        "train one network on one order, on several or on all, until it complies",
    ),
    "search": (
        "garrison.commands.workflow_search",
        "find the order with the best reward among those that are complied with",
    ),
    "evaluate": ("garrison.commands.workflow_evaluate", "reward and compliance of a defender under every order"),
}


def main(arguments: list[str]) -> int:
    """Run the command named first in `arguments` with the rest as its options, and return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, COMMANDS))
        rows = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
        print("\n".join(["usage: garrison workflow NAME [options]      (garrison workflow NAME --help)", "", *rows]))
        return 0
    name, *rest = arguments
    choose("workflow command", name, list(COMMANDS))
    code: int = import_module(COMMANDS[name][0]).main(rest)
    return code
