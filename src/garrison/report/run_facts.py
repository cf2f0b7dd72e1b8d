"""What a run's folder and settings say about it, in the words that pages use."""

from pathlib import Path

from garrison.challenge import leaderboard
from garrison.errors import UserError
from garrison.formatting import plural, short
from garrison.registration import CAGE2
from garrison.report.history import RunHistory
from garrison.runs.experiment import parse_duration
from garrison.storage.schema import is_number
from garrison.tasks.cage2 import parse_odds

AGENT_ROWS = 200  # of the metrics of one of several agents


def title_of(run: RunHistory) -> str:
    """Return what a run is called; one of several agents is called by their run as well."""
    return f"{run.path.resolve().parent.name}, {run.name}" if is_agent(run.path) else run.name


def is_agent(path: Path) -> bool:
    """Return whether a folder is that of one of several agents of a run."""
    return path.name.startswith("seed-") and (path.resolve().parent / "config.yaml").is_file()


def agents_of(run: RunHistory) -> list[RunHistory]:
    """Return the agents that were trained together as runs of their own; none if there is only one."""
    paths = [path for path in run.path.glob("seed-*") if path.is_dir()]
    paths.sort(key=lambda path: (len(path.name), path.name))  # 2 before 10
    return [RunHistory.glance(path, AGENT_ROWS) for path in paths]


def lead(run: RunHistory) -> str:
    """Return a line about what is trained, on what."""
    settings = run.settings
    learner = run.summary.get("training_mode") or settings.get("learner")
    env = run.summary.get("env") or settings.get("env.env")
    if not learner and not env:
        return ""
    parts = [" on ".join(str(part) for part in (learner, env) if part)]
    if env == CAGE2 and "env.red" in settings:
        parts.append(f"against {settings['env.red']}, rules {settings.get('env.rules', 'unknown')}")
    if envs := _number(run, "env.envs"):
        parts.append(plural(int(envs), "environment"))
    if duration := settings.get("run.duration"):
        parts.append(f"for {duration}")
    elif steps := _number(run, "learner.steps"):
        parts.append(f"{short(steps)} steps")
    if (seed := _number(run, "learner.seed")) is not None:
        last = seed + max(1, _number(run, "learner.seeds") or 1) - 1
        parts.append(f"seeds {seed:g} to {last:g}" if last > seed else f"seed {seed:g}")
    return ", ".join(parts)


def _number(run: RunHistory, name: str) -> float | None:
    """Return a setting that is a number; None if it is missing or something else."""
    value = run.settings.get(name)
    return value if value is not None and is_number(value) else None


def share_done(run: RunHistory) -> float:
    """Return the share of a run that is done, 0 to 1."""
    duration, steps = run.settings.get("run.duration"), _number(run, "learner.steps")
    try:
        if duration:
            return min(1.0, run.seconds / parse_duration(str(duration)))
    except UserError:
        return 0.0
    return min(1.0, run.steps / steps) if steps else 0.0


def time_left(run: RunHistory) -> float | None:
    """Return about how many seconds are left; None if nothing tells it yet."""
    share = share_done(run)
    return run.seconds * (1 - share) / share if share > 0 and run.seconds > 0 else None


def known_scores(run: RunHistory) -> dict[str, float]:
    """Return what defenders of the leaderboard score on a run's problem, if it is one of theirs."""
    settings = run.settings
    if settings.get("env.env") != CAGE2 or "workflow.orders" in settings:
        return {}
    red, length = str(settings.get("env.red", "")), int(_number(run, "env.length") or 0)
    try:
        odds = parse_odds(red)
    except UserError:
        return {}
    return leaderboard.marks(odds, length, str(settings.get("env.rules", "")))
