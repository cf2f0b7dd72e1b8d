"""`garrison selfplay`: Red and Blue trained in turns against each other, and the matrix of who beats whom."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from garrison.commands.flags import value_of
from garrison.commands.progress import progress
from garrison.runs.folder import RunFolder
from garrison.runs.generations import (
    SelfPlayConfig,
    begin,
    matrix,
    opponents,
    play,
    read_settings,
    trainings,
    write_settings,
)
from garrison.runs.interrupts import Interrupts
from garrison.storage.lock import only_writer
from garrison.system import require

NOTICE = "finishing this update; Ctrl-C again ends at once"


@dataclass(frozen=True)
class Arguments:
    """Self-play in CAGE-2: Red is trained against the defenders so far, then Blue against the attackers so far, and
    again. Every training is an ordinary run folder, red-1, blue-1, red-2, ...; at the end everybody plays everybody."""

    settings: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    out: str = ""
    """The folder; by default runs/selfplay-DATE-TIME."""
    resume: str = ""
    """Continue in this folder; its settings are kept, and flags change them."""
    json: bool = False
    """Print JSON instead of text."""
    quiet: bool = False
    """Show nothing but warnings."""


def main(arguments: list[str]) -> int:
    """Run `garrison selfplay`."""
    require("torch", "yaml")
    args = parse(arguments)
    from garrison.report.payoff_page import write_payoff_page

    config, folder = args.settings, Path(args.resume) if args.resume else RunFolder.fresh(args.out, "selfplay").path
    if not args.resume:
        begin(folder, config)
    hint = f"Wait for it or stop it; then continue with garrison selfplay --resume {folder}."
    with only_writer(folder, hint), Interrupts(lambda: print(NOTICE, file=sys.stderr)) as interrupts:
        write_settings(folder, config)
        is_whole = play(config, folder, interrupts, args.quiet or args.json)
    if not is_whole:
        print(f"Continue with: garrison selfplay --resume {folder}", file=sys.stderr)
        return interrupts.exit_code or 1
    with progress() as tell:
        found = matrix(config, folder, tell)
    page = write_payoff_page(found, {t.name: opponents(config, folder, t) for t in trainings(config)}, folder)
    if args.json:
        print(json.dumps(found.to_dict()))
    elif not args.quiet:
        print(f"\n{found.to_text()}\n\nThe page is {page}.")
    return 0


def parse(arguments: list[str]) -> Arguments:
    """Return the settings: those of the folder that is continued, and flags."""
    resume = value_of("--resume", arguments)
    base = Arguments(read_settings(Path(resume)) if resume else SelfPlayConfig(), resume=resume or "")
    return tyro.cli(
        Arguments, prog="garrison selfplay", default=base, args=arguments, config=(tyro.conf.OmitArgPrefixes,)
    )
