"""`garrison profile ENV`: where the time of a step goes, on every backend, and what would make it shorter."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

from garrison.profile.profiler import ProfileSettings, profile_env
from garrison.profile.tables import overhead_text, to_text
from garrison.storage.atomic import write_json, write_text


@dataclass(frozen=True)
class Arguments(ProfileSettings):
    """Where does the time of a step go? Measures an environment on every backend that fits it, and advises."""

    json: bool = False
    """Print JSON instead of text."""
    out: Path | None = None
    """Folder for profile.json and profile.txt."""


def main(arguments: list[str]) -> int:
    """Run `garrison profile`."""
    args = tyro.cli(Arguments, prog="garrison profile", args=arguments)
    with Console(stderr=True).status("looking at one environment") as status:
        result = profile_env(args, status.update)
    width = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 120
    text = overhead_text(result) if args.overhead else to_text(result, width)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        write_json(args.out / "profile.json", result)
        write_text(args.out / "profile.txt", text + "\n")
    print(json.dumps(result) if args.json else text)
    return 0
