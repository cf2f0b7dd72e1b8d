"""`garrison train`: settings from a preset or a file, changed by flags; a run's folder; the learner; the score."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from garrison.challenge import leaderboard
from garrison.challenge.evaluation import CellScore, Evaluation, evaluate
from garrison.errors import UserError
from garrison.learn.nn.description import describe_policy
from garrison.runs.experiment import Experiment, load_experiment
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.presets import DEFAULT, PRESETS, preset
from garrison.runs.recorder import Limits, Recorder
from garrison.runs.resume import check_fits, layout, prepare_resume
from garrison.runs.summary import print_end, summarise, write_summary
from garrison.runs.view import Title, View, make_view
from garrison.storage import checkpoint
from garrison.system import require
from garrison.tasks.environments import make_envs
from garrison.text import short

if TYPE_CHECKING:
    from garrison.learn.ppo import Result

FOREVER = 2**62  # steps, when the time decides


@dataclass(frozen=True)
class Arguments:
    """What can be said on the command line."""

    experiment: Experiment = field(default_factory=Experiment)
    resume: str = ""
    """Continue the run in this folder; its settings are kept, and flags change them."""
    quiet: bool = False
    """Show nothing but warnings."""


def main(arguments: list[str]) -> int:
    """Run `garrison train`."""
    require("torch", "yaml")
    name, args = parse(arguments)
    with _reaching(args.experiment.run.cluster):
        return train_run(args.experiment, name, Path(args.resume) if args.resume else None, args.quiet)


def parse(arguments: list[str]) -> tuple[str, Arguments]:
    """Return the run's name and its settings: preset or file, then flags."""
    resume = _value_of("--resume", arguments)
    source = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if resume and source:
        raise UserError(f"--resume continues a run with its own settings; leave out {source!r}.")
    if resume:
        name, base = Path(resume).name, load_experiment(RunFolder.open(Path(resume)).config)
    elif source and (source.endswith((".yaml", ".yml")) or Path(source).is_file()):
        name, base = Path(source).stem, load_experiment(Path(source))
    else:
        name, base = source or DEFAULT, preset(source or DEFAULT)
    presets = "\n".join(f"  {key:<22} {what}" for key, (what, _) in PRESETS.items())
    args = tyro.cli(
        Arguments,
        prog="garrison train [PRESET | FILE.yaml]",
        description=f"Presets:\n\n{presets}\n\nThe defaults below are those of {source or resume or DEFAULT}.",
        default=Arguments(base, resume or ""),
        args=arguments[1:] if source else arguments,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    return name, args


def train_run(experiment: Experiment, name: str, resume: Path | None = None, quiet: bool = False) -> int:
    """Train, record and evaluate; return the exit code."""
    from garrison.learn.ppo import Diverged

    folder = _folder(experiment, name, resume)
    values = checkpoint.load(folder.path) if resume else None
    if values is not None:
        checkpoint.require(values, str(folder.checkpoint))
    learner = experiment.learner
    if experiment.env.is_cage2 and experiment.env.backend not in ("auto", "native") and learner.action_masks:
        raise UserError(
            f"the backend {experiment.env.backend!r} has no action masks: say --no-action-masks, or use native."
        )
    has_actors = experiment.algorithm != "ppo"  # then each actor makes environments of its own, and these only tell
    envs = make_envs(experiment.env, 1 if has_actors else None)
    about = {
        "experiment": experiment.to_dict(),
        "policy": describe_policy(learner.policy, envs.single_observation_space, envs.single_action_space),
        "layout": layout(envs),
    }
    if has_actors:
        envs.close()
    if values is not None:
        check_fits(values, about)
        folder.trim_metrics(values["state"]["steps"])
    folder.write_settings(experiment.to_yaml())
    seconds = experiment.run.seconds
    odds = experiment.env.red_odds if experiment.env.is_cage2 else {}
    view = make_view(
        Title(name, _details(experiment), str(folder.path), leaderboard.marks(odds, experiment.env.length)), quiet
    )
    result: Result | None = None
    status, message = "finished", ""
    with view, Interrupts(lambda: view.say("finishing this update; Ctrl-C again ends at once")) as interrupts:
        recorder = Recorder(
            folder,
            Limits(
                None if seconds else learner.steps,
                seconds,
                experiment.run.checkpoint_every,
                experiment.run.evaluate_every if experiment.env.is_cage2 else 0,
            ),
            about,
            interrupted=lambda: interrupts.signal is not None,
            show=view.show,
            warn=view.say,
            evaluate=lambda saved: _score(saved, view),
            seconds_before=values["seconds"] if values else 0.0,
            first_step=values["state"]["steps"] if values else 0,
            tensorboard=experiment.run.tensorboard,
        )
        if seconds:
            learner = replace(learner, steps=FOREVER)
        try:
            state = prepare_resume(values, about, envs, view) if values is not None else None
            train = import_module(f"garrison.learn.{experiment.algorithm}").train
            if has_actors:
                make = partial(make_envs, experiment.env)
                result = train(learner, make, experiment.env.envs, recorder, state, **_transport(experiment))
            else:
                result = train(learner, envs, recorder, state)
        except Diverged as diverged:
            status, message = "diverged", str(diverged)
        except UserError:
            if resume is None and not recorder.last:
                recorder.close()
                folder.discard()
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            write_summary(folder, summarise(name, experiment, "failed", why, recorder, None))
            raise
        finally:
            recorder.close()
            envs.close()
    if interrupts.signal is not None and status == "finished":
        status = "interrupted"

    summary = summarise(name, experiment, status, message, recorder, result)
    is_written = write_summary(folder, summary)
    print_end(summary, folder, quiet)
    if status == "finished" and result is not None and experiment.env.is_cage2 and experiment.run.evaluate_episodes:
        evaluation, mix = official({**about, "state": result.state}, str(folder.path), experiment)
        summary |= {"evaluation": evaluation.to_dict(), "action_mix": mix}
        is_written = write_summary(folder, summary)
        if not quiet:
            print(f"\n{evaluation.to_text()}")
    if recorder.unsaved:
        print(f"garrison train: {recorder.unsaved}.", file=sys.stderr)
    if recorder.unsaved or not is_written:
        return 1
    return {"finished": 0, "interrupted": interrupts.exit_code, "diverged": 1}[status]


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    """Be connected to a cluster, if an address is given."""
    if not address:
        yield
        return
    from garrison import cluster

    cluster.connect(address)
    try:
        yield
    finally:
        cluster.disconnect()


def _transport(experiment: Experiment) -> dict[str, Any]:
    """Return what else the learner is told about its actors: nothing, or that they live on a cluster."""
    if not experiment.run.cluster or experiment.algorithm != "impala":
        return {}
    from garrison.cluster import Remote

    return {"connect": Remote}


def official(
    values: dict[str, Any], name: str, experiment: Experiment
) -> tuple[Evaluation, dict[str, dict[str, float]]]:
    """Score a checkpoint's values, greedy; also return the share of each action against each attacker."""
    from garrison.agents.counting import CountingAgent
    from garrison.agents.network import NetworkAgent

    cells: list[CellScore] = []
    mix: dict[str, dict[str, float]] = {}
    seconds = 0.0
    for red in leaderboard.EVALUATED_REDS:
        agent = CountingAgent(NetworkAgent.of(values, name))
        part = evaluate(agent, experiment.env.rules, experiment.run.evaluate_episodes, reds=[red])
        cells += part.cells
        seconds += part.seconds
        mix[red] = agent.shares()
    cells.sort(key=lambda cell: (cell.length, leaderboard.EVALUATED_REDS.index(cell.red)))
    return Evaluation(name, experiment.env.rules, experiment.run.evaluate_episodes, 0, tuple(cells), seconds), mix


def _score(values: dict[str, Any], view: View) -> tuple[float, dict[str, float]]:
    """Evaluate a checkpoint's values during training, with fewer episodes than the protocol's."""
    from garrison.agents.network import NetworkAgent

    agent = NetworkAgent.of(values, "checkpoint")
    result = evaluate(agent, values["experiment"]["env"]["rules"], episodes=100)
    view.say(f"step {short(values['state']['steps'])}: official total {result.total:.2f} ± {result.ci95:.2f}")
    cells = {f"evaluation/{cell.red}_{cell.length}": cell.mean for cell in result.cells}
    return result.total, {"evaluation/total": result.total, "evaluation/ci95": result.ci95, **cells}


def _value_of(flag: str, arguments: list[str]) -> str | None:
    for k, word in enumerate(arguments):
        if word.startswith(f"{flag}="):
            return word[len(flag) + 1 :]
        if word == flag and k + 1 < len(arguments):
            return arguments[k + 1]
    return None


def _folder(experiment: Experiment, name: str, resume: Path | None) -> RunFolder:
    if resume is not None:
        folder = RunFolder.open(resume)
        folder.reopen()
        return folder
    if experiment.run.out:
        return RunFolder.create(Path(experiment.run.out))
    stem = Path("runs") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    number = 1
    while (path := stem if number == 1 else stem.with_name(f"{stem.name}-{number}")).exists():
        number += 1
    return RunFolder.create(path)


def _details(experiment: Experiment) -> str:
    env, run, learner = experiment.env, experiment.run, experiment.learner
    until = f"for {run.duration}" if run.duration else f"{short(learner.steps)} steps"
    task = f"against {env.red}, rules {env.rules}" if env.is_cage2 else env.env
    return f"{task}, {env.envs} envs, {until}, seed {learner.seed}"
