"""`garrison train`: settings from a preset or a file, changed by flags; a run's folder; the learner; the score."""

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tyro

from garrison import leaderboard
from garrison.config import EnvConfig, Experiment, load_experiment
from garrison.errors import UserError
from garrison.evaluate import Cell, Evaluation, evaluate
from garrison.learn.config import PPOConfig
from garrison.live import Title, View, clock, count, make_view
from garrison.presets import DEFAULT, PRESETS, preset
from garrison.runs import checkpoint
from garrison.runs.atomic import write_json
from garrison.runs.extras import require_torch, require_yaml
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.networks import describe_policy
from garrison.runs.recorder import Limits, Recorder

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


@dataclass(frozen=True)
class TimedPPOConfig(PPOConfig):
    """PPO whose schedules follow the clock."""

    share_done: Callable[[], float] = lambda: 0.0
    """Returns the share of the time that has passed."""

    def progress(self, steps_done: int) -> float:
        """Return the share of the run that is done, 0 to 1."""
        return min(1.0, self.share_done())


def main(arguments: list[str]) -> int:
    """Run `garrison train`."""
    require_torch()
    require_yaml()
    name, args = parse(arguments)
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
    presets = "\n".join(f"  {key:<13} {what}" for key, (what, _) in PRESETS.items())
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
    from garrison.learn.ppo import Diverged, train

    folder = _folder(experiment, name, resume)
    values = checkpoint.load(folder.path) if resume else None
    if values is not None:
        checkpoint.require(values, str(folder.checkpoint))
    if experiment.env.is_cage2 and experiment.env.backend not in ("auto", "native") and experiment.ppo.action_masks:
        raise UserError(
            f"the backend {experiment.env.backend!r} has no action masks: say --no-action-masks, or use native."
        )
    envs = make_envs(experiment.env)
    if values is not None:
        folder.trim_metrics(values["state"]["steps"])
    folder.write_settings(experiment.to_yaml())
    config = experiment.ppo
    seconds = experiment.run.seconds
    odds = experiment.env.red_odds if experiment.env.is_cage2 else {}
    view = make_view(
        Title(name, _details(experiment), str(folder.path), leaderboard.marks(odds, experiment.env.length)), quiet
    )
    about = {
        "experiment": experiment.to_dict(),
        "policy": describe_policy(config.policy, envs.single_observation_space, envs.single_action_space),
        "layout": _layout(envs),
    }
    result: Result | None = None
    status, message = "finished", ""
    with view, Interrupts(lambda: view.say("finishing this update; Ctrl-C again ends at once")) as interrupts:
        recorder = Recorder(
            folder,
            Limits(
                None if seconds else config.steps,
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
            fields = {f.name: getattr(config, f.name) for f in dataclasses.fields(PPOConfig)}
            config = TimedPPOConfig(**{**fields, "steps": FOREVER}, share_done=lambda: recorder.share)
        try:
            state = _prepare_resume(values, experiment, envs, view) if values is not None else None
            result = train(config, envs, recorder, state)
        except Diverged as diverged:
            status, message = "diverged", str(diverged)
        except UserError:
            if resume is None and not recorder.last:
                recorder.close()
                folder.discard()
            raise
        except Exception as error:
            failed = _summary(name, experiment, "failed", f"{type(error).__name__}: {error}", recorder, None)
            write_json(folder.summary, failed)
            raise
        finally:
            recorder.close()
            envs.close()
    if interrupts.signal is not None and status == "finished":
        status = "interrupted"

    summary = _summary(name, experiment, status, message, recorder, result)
    write_json(folder.summary, summary)
    _print_end(summary, folder, quiet)
    if status == "finished" and experiment.env.is_cage2 and experiment.run.evaluate_episodes:
        evaluation, mix = official(folder.checkpoint, experiment)
        summary |= {"evaluation": evaluation.to_dict(), "action_mix": mix}
        write_json(folder.summary, summary)
        if not quiet:
            print(f"\n{evaluation.to_text()}")
    if recorder.unsaved:
        print(f"garrison train: {recorder.unsaved}.", file=sys.stderr)
        return 1
    return {"finished": 0, "interrupted": interrupts.exit_code, "diverged": 1}[status]


def make_envs(config: EnvConfig) -> Any:
    """Make the environments to train in."""
    if not config.is_cage2:
        import gymnasium

        from garrison import vector

        try:
            gymnasium.spec(config.env)
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise UserError(f"no environment {config.env!r}: {error}") from None
        return vector.make(
            config.env,
            config.envs,
            config.backend,
            workers=config.workers or None,
            autoreset_mode="SameStep",
            **config.env_args,
        )
    odds = config.red_odds
    arguments: dict[str, Any] = {
        "red": odds if len(odds) > 1 else next(iter(odds)),
        "rules": config.rules,
        "length": config.length,
        "encoder": config.encoder,
        "observation": config.observation,
        "actions": config.actions,
        "autoreset_mode": "SameStep",
    }
    if config.backend in ("auto", "native"):
        from garrison.cage2 import VectorEnv

        return VectorEnv(config.envs, **arguments)
    from garrison import vector

    return vector.make(config.env, config.envs, config.backend, workers=config.workers or None, **arguments)


def official(path: Path, experiment: Experiment) -> tuple[Evaluation, dict[str, dict[str, float]]]:
    """Score a checkpoint, greedy; also return the share of each action against each attacker."""
    from garrison.agents.counting import CountingAgent
    from garrison.agents.network import NetworkAgent

    cells: list[Cell] = []
    mix: dict[str, dict[str, float]] = {}
    seconds = 0.0
    for red in leaderboard.REDS:
        agent = CountingAgent(NetworkAgent.load(path))
        part = evaluate(agent, experiment.env.rules, experiment.run.evaluate_episodes, reds=[red])
        cells += part.cells
        seconds += part.seconds
        mix[red] = agent.shares()
    cells.sort(key=lambda cell: (cell.length, leaderboard.REDS.index(cell.red)))
    name = str(path.parent)
    return Evaluation(name, experiment.env.rules, experiment.run.evaluate_episodes, 0, tuple(cells), seconds), mix


def _score(values: dict[str, Any], view: View) -> tuple[float, dict[str, float]]:
    """Evaluate a checkpoint's values during training, with fewer episodes than the protocol's."""
    from garrison.agents.network import NetworkAgent

    agent = NetworkAgent.of(values, "checkpoint")
    result = evaluate(agent, values["experiment"]["env"]["rules"], episodes=100)
    view.say(f"step {count(values['state']['steps'])}: official total {result.total:.2f} ± {result.ci95:.2f}")
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


def _prepare_resume(values: dict[str, Any], experiment: Experiment, envs: Any, view: View) -> dict[str, Any]:
    """Return the state to continue from; say what differs from the part before, and how exact it will be."""
    before, now = values["experiment"], experiment.to_dict()
    changed = [
        f"{part}.{name}" for part in now for name in now[part] if now[part][name] != before.get(part, {}).get(name)
    ]
    for name in ("env", "envs"):
        if f"env.{name}" in changed:
            raise UserError(
                f"cannot resume with --{name} {now['env'][name]}: the run has {before['env'][name]}; start a new one."
            )
    state: dict[str, Any] = checkpoint.tensors(values["state"])
    where = f"resuming at step {state['steps']:,}"
    if changed:
        where += f" with other settings than before ({', '.join(changed)})"
    if state["collector"]["envs"] is None or not hasattr(envs, "set_state"):
        view.say(f"{where}; these environments cannot save their state, so new episodes begin: not bit for bit.")
    elif values.get("layout") != _layout(envs):
        state["collector"]["envs"] = None
        view.say(f"{where}; this version of Garrison keeps episodes in another form, so new ones begin.")
    elif any(name.startswith("env.") and name != "env.workers" for name in changed):
        state["collector"]["envs"] = None
        view.say(f"{where}; the saved episodes do not fit these, so new ones begin.")
    else:
        view.say(f"{where}, bit for bit where the run stopped.")
    return state


def _layout(envs: Any) -> str | None:
    """Name the fields of the environments' saved state, where it is records: another version may have others."""
    if not hasattr(envs, "get_state"):
        return None
    envs.reset(seed=0)
    state = envs.get_state()
    return str(state.dtype) if isinstance(state, np.ndarray) else None


def _details(experiment: Experiment) -> str:
    env, run, ppo = experiment.env, experiment.run, experiment.ppo
    until = f"for {run.duration}" if run.duration else f"{count(ppo.steps)} steps"
    task = f"against {env.red}, rules {env.rules}" if env.is_cage2 else env.env
    return f"{task}, {env.envs} envs, {until}, seed {ppo.seed}"


def _summary(
    name: str, experiment: Experiment, status: str, message: str, recorder: Recorder, result: "Result | None"
) -> dict[str, Any]:
    first, last = recorder.first, recorder.last
    steps, seconds = int(last.get("step", 0)), recorder.seconds
    reward = "rollout/ep_reward_mean"
    here = recorder.seconds - recorder.seconds_before
    summary: dict[str, Any] = {
        "name": name,
        "status": status,
        "training_mode": experiment.run.algorithm,
        "env": experiment.env.env,
        "total_envs": experiment.env.envs,
        "task": _task(experiment.env),
        "seed": experiment.ppo.seed,
        "total_timesteps": steps,
        "total_updates": result.updates if result else None,
        "duration_seconds": round(seconds, 3),
        "average_fps": round((steps - recorder.first_step) / here, 1) if here > 0 else None,
        "final_fps": last.get("time/fps"),
        "performance": {
            "initial_reward": first.get(reward),
            "final_reward": last.get(reward),
            "best_reward": recorder.best_return if reward in last else None,
        },
        "resource_usage": {"peak_memory_gb": last.get("system/peak_memory_gb")},
        "checkpoint_step": recorder.saved_step,
    }
    if result is not None:
        summary |= {"time_split": result.times, "threads": result.threads, "compute": result.compute}
    if message:
        summary["message"] = message
    return summary


def _task(env: EnvConfig) -> dict[str, Any]:
    if not env.is_cage2:
        return {"backend": env.backend}
    return {"backend": env.backend, "red_odds": env.red_odds, "rules": env.rules, "length": env.length}


def _print_end(summary: dict[str, Any], folder: RunFolder, quiet: bool) -> None:
    status, step = summary["status"], summary["checkpoint_step"]
    if status == "diverged":
        print(f"garrison train: {summary['message']}", file=sys.stderr)
        print(f"The last good checkpoint (step {step}) is in {folder.path}.", file=sys.stderr)
    elif status == "interrupted":
        print(
            f"Interrupted after {count(summary['total_timesteps'])} steps; the checkpoint is complete.", file=sys.stderr
        )
        print(f"Continue with: garrison train --resume {folder.path}", file=sys.stderr)
    elif not quiet:
        speed = count(summary["average_fps"] or 0.0)
        print(
            f"\n{count(summary['total_timesteps'])} steps in {clock(summary['duration_seconds'])}, "
            f"{speed} steps/s with learning; the run is in {folder.path}"
        )
