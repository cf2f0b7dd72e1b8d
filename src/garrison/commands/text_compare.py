"""`garrison text compare A B ...`: contests on the same episodes side by side, with paired differences."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.errors import UserError
from garrison.text.contest_folder import ContestFolder
from garrison.text.standings import joined


@dataclass(frozen=True)
class Arguments:
    """Put contests side by side: several models, or one model with and without renamed hosts. Differences to the first
    are paired on equal episodes."""

    contests: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """Folders that garrison text play wrote."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: list[str]) -> int:
    """Run `garrison text compare`."""
    args = tyro.cli(Arguments, prog="garrison text compare", args=arguments)
    names = [str(path) for path in args.contests]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError("name at least two folders, each once.")
    standings = joined([ContestFolder(path).standings() for path in args.contests], names)
    print(json.dumps(standings.to_dict()) if args.json else standings.to_text())
    return 0
