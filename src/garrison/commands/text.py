"""`garrison text NAME`: language models as defenders: play one, put several side by side, see what one is shown."""

from importlib import import_module

from garrison.errors import choose

COMMANDS: dict[str, tuple[str, str]] = {
    "play": (
        "garrison.commands.text_play",
        "let a model defend, over any OpenAI-compatible endpoint, beside baselines",
    ),
    "compare": ("garrison.commands.text_compare", "put models, or one under several names of hosts, side by side"),
    "show": ("garrison.commands.text_show", "print what a model is shown: the instructions, the tool, some turns"),
}


def main(arguments: list[str]) -> int:
    """Run the command named first in `arguments` with the rest as its options, and return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, COMMANDS))
        rows = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
        print("\n".join(["usage: garrison text NAME [options]      (garrison text NAME --help)", "", *rows]))
        return 0
    name, *rest = arguments
    choose("text command", name, list(COMMANDS))
    code: int = import_module(COMMANDS[name][0]).main(rest)
    return code
