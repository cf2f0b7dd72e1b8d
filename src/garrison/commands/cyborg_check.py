"""`garrison cyborg check SCRIPT...`: what scripts use of CybORG, and what of it is missing here."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from garrison.cyborg.script_uses import Use

MEANINGS = {
    "there": "there",
    "yours": "your own module, which Garrison's package finds in your folders",
    "unknown": "unknown: decided while the script runs, or no name of CybORG's",
    "missing": "missing: run this part with the original CybORG",
}
"""What each mark means; the last thing that is read should be the bad news."""


@dataclass(frozen=True)
class Arguments:
    """List what scripts, and what they import from their own folders, use of CybORG. Nothing of them is run.

    The exit code is 1 if something is missing here.
    """

    scripts: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="SCRIPT...")] = tyro.MISSING
    """The files that you would run."""


def main(arguments: list[str]) -> int:
    """Run `garrison cyborg check`."""
    scripts: tuple[Path, ...] = tyro.cli(
        tyro.conf.Positional[Arguments], prog="garrison cyborg check", args=arguments
    ).scripts

    from garrison.cyborg.script_files import files_of

    files = {file.path: file for script in scripts for file in files_of(script)}

    from garrison.cyborg.on_path import install
    from garrison.cyborg.script_uses import uses_of

    install()
    uses = [use for file in files.values() for use in uses_of(file)]
    print(text_of(uses, len(files)))
    return int(any(use.mark == "missing" for use in uses))


def text_of(uses: "Iterable[Use]", files: int) -> str:
    """Return the list for people: by mark, each name once with its first place."""
    by_mark: dict[str, dict[str, list[Use]]] = defaultdict(lambda: defaultdict(list))
    for use in uses:
        by_mark[use.mark][use.name].append(use)
    lines = []
    for mark, meaning in MEANINGS.items():
        if names := by_mark.get(mark):
            lines.append(meaning)
            width = max(map(len, names))
            for name, places in sorted(names.items()):
                first = places[0]
                more = f" and {len(places) - 1} more" if len(places) > 1 else ""
                lines.append(f"  {name:<{width}}  {_short(first.file)}:{first.line}{more}")
    found = len(by_mark.get("missing", ()))
    lines.append(f"{files} file{'s' * (files != 1)} read; {found or 'nothing'} missing")
    return "\n".join(lines)


def _short(file: Path) -> str:
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)
