"""`garrison train`: settings from a preset or a file, changed by flags; then one run."""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import tyro

from garrison.cage2.names import ENCODERS
from garrison.commands.flags import value_of, values_of, with_new_names, without_repeated
from garrison.errors import UserError
from garrison.registration import CAGE2
from garrison.runs.experiment import Experiment
from garrison.runs.experiment_file import find_experiment, is_environment, load_config
from garrison.runs.folder import RunFolder
from garrison.runs.presets import PRESETS, default_preset
from garrison.system import require
from garrison.vector.naming import parse_env_args


@dataclass(frozen=True)
class Arguments:
    """The settings of the run, and how to run it."""

    experiment: Experiment = field(default_factory=Experiment)
    resume: str = ""
    """Continue the run in this folder; its settings are kept, and flags change them."""
    quiet: bool = False
    """Show nothing but warnings."""


def main(arguments: list[str]) -> int:
    """Run `garrison train`."""
    require("torch", "yaml")
    from garrison.runs import session
    from garrison.runs.resume import open_folder
    from garrison.runs.start import open_view
    from garrison.runs.summary import print_end

    name, args = parse(arguments)
    experiment = args.experiment
    with open_folder(experiment.run.out, name, args.resume) as (folder, values):
        view = open_view(name, experiment, folder, args.quiet)
        outcome = session.run(experiment, name, folder, view, values=values)
        print_end(outcome.summary, folder, args.quiet)
        score = session.score(outcome)
    if score is not None and not args.quiet:
        print(score.text)
    if "warning" in outcome.summary:
        print(f"garrison train: {outcome.summary['warning']}", file=sys.stderr)
    if outcome.unsaved:
        print(f"garrison train: {outcome.unsaved}.", file=sys.stderr)
    return outcome.exit_code


def parse(arguments: list[str]) -> tuple[str, Arguments]:
    """Return the run's name and its settings: preset or file, then flags."""
    arguments = _with_renamed_encoder(arguments)
    resume = value_of("--resume", arguments)
    source = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if resume and source:
        raise UserError(f"--resume continues a run with its own settings; leave out {source!r}.")
    if resume:
        name, base = Path(resume).name, load_config(RunFolder.open(Path(resume)).config)
    elif source and not is_environment(source):
        name, base = find_experiment(source)
    else:
        env_args = parse_env_args(values_of("--env-args", arguments))
        env = source or value_of("--env", arguments) or CAGE2
        base = default_preset(env, env_args=env_args, backend=value_of("--backend", arguments) or "auto")
        name = base.name
    rest = arguments[1:] if source else arguments
    return name, read_flags(Arguments(base, resume or ""), rest, source or resume or name)


def read_flags(default: Arguments, arguments: list[str], about: str) -> Arguments:
    """Return what the flags make of settings, which are those of `about`."""
    presets = "\n".join(f"  {key:<22} {what}" for key, (what, _) in PRESETS.items())
    return tyro.cli(
        Arguments,
        prog="garrison train [PRESET | FILE.yaml | ENVIRONMENT]",
        description=f"Presets:\n\n{presets}\n\nThe defaults below are those of {about}.",
        default=replace(default, experiment=without_repeated(default.experiment, arguments)),
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes,),
    )


def _with_renamed_encoder(arguments: list[str]) -> list[str]:
    """Accept `--encoder wrapper2`, which named CAGE-2's observations before policies had encoders, with a notice."""
    if value_of("--encoder", arguments) in ENCODERS:
        return with_new_names(arguments, {"--encoder": "--challenge-encoder"})
    return arguments
