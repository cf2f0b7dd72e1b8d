"""How a run ended: the summary in its folder and what the terminal shows at the end."""

import sys
from typing import TYPE_CHECKING, Any

from garrison.formatting import clock, short
from garrison.runs import marks
from garrison.runs.experiment import Experiment
from garrison.runs.folder import RunFolder
from garrison.runs.follower import Follower
from garrison.runs.recorder import reason
from garrison.storage.atomic import write_json

if TYPE_CHECKING:
    from garrison.learn.result import Result

FEW_UPDATES = 10
"""With fewer, a policy has hardly changed since its weights were drawn."""


def summarise(
    name: str, experiment: Experiment, status: str, message: str, log: Follower, result: "Result | None"
) -> dict[str, Any]:
    """Return what the folder keeps about the end, under the names that users' scripts read."""
    first, last = log.first, log.last
    steps, seconds = int(last.get("step", log.first_step)), log.seconds
    reward = "rollout/ep_reward_mean"
    here = log.seconds - log.seconds_before
    summary: dict[str, Any] = {
        "name": name,
        "status": status,
        "ended": marks.now(),
        "training_mode": experiment.algorithm,
        "env": experiment.env.env,
        "total_envs": experiment.env.envs * int(last.get("train/actors", 1) or 1) * len(experiment.learner.agents),
        "task": experiment.task.facts(),
        "seed": experiment.learner.seed,
        "total_timesteps": steps,
        "total_updates": result.updates if result else None,
        "duration_seconds": round(seconds, 3),
        "average_fps": round(len(experiment.learner.agents) * (steps - log.first_step) / here, 1) if here > 0 else None,
        "final_fps": last.get("time/fps"),
        "performance": {
            "initial_reward": first.get(reward),
            "final_reward": last.get(reward),
            "best_reward": log.best_return if reward in last else None,
        },
        "resource_usage": {"peak_memory_gb": last.get("system/peak_memory_gb")},
        "checkpoint_step": log.saved_step,
    }
    if result is not None:
        summary |= {"time_split": result.times, "threads": result.threads, "compute": result.compute}
        if status == "finished" and result.updates < FEW_UPDATES:
            made = f"{result.updates} update{'' if result.updates == 1 else 's'} of the weights"
            summary["warning"] = f"there were only {made}, so the score means nothing yet: train longer."
    if message:
        summary["message"] = message
    return summary


def write_summary(folder: RunFolder, summary: dict[str, Any]) -> bool:
    """Write the summary; say so and return False if that fails."""
    try:
        write_json(folder.summary, summary)
    except OSError as error:
        print(f"garrison train: the summary could not be written ({reason(error)}).", file=sys.stderr)
        return False
    return True


def print_end(summary: dict[str, Any], folder: RunFolder, quiet: bool) -> None:
    """Print how it ended and how to go on."""
    status, step = summary["status"], summary["checkpoint_step"]
    if status == "diverged":
        print(f"garrison train: {summary['message']}", file=sys.stderr)
        print(f"The last good checkpoint (step {step}) is in {folder.path}.", file=sys.stderr)
    elif status == "interrupted":
        print(
            f"Interrupted after {short(summary['total_timesteps'])} steps; the checkpoint is complete.", file=sys.stderr
        )
        print(f"Continue with: garrison train --resume {folder.path}", file=sys.stderr)
    elif not quiet:
        speed = short(summary["average_fps"] or 0.0)
        print(
            f"\n{short(summary['total_timesteps'])} steps in {clock(summary['duration_seconds'])}, "
            f"{speed} steps/s with learning; the run is in {folder.path}"
        )
