"""Episodes as films, by Gymnasium's own recorder."""

import warnings
from pathlib import Path
from typing import Any

from garrison.errors import GarrisonError, UserError
from garrison.system import require
from garrison.tasks.task import Task

PICTURES = "rgb_array"


def filmed(task: Task, folder: Path, episodes: int) -> Any:
    """Return a vector of one environment whose first episodes are written into a folder, one film each.

    The environment is closed by its recorder, so a film is whole even if the last episode is cut.
    """
    require("moviepy")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not an empty folder: films would be overwritten. Name another.")
    from gymnasium.vector import AutoresetMode, SyncVectorEnv
    from gymnasium.wrappers import RecordVideo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium warns of what is refused here, and of a folder that is there
        env = _painting(task)
        recorded: Any = RecordVideo(env, str(folder), episode_trigger=lambda number: number < episodes)
        return SyncVectorEnv([lambda: recorded], autoreset_mode=AutoresetMode.SAME_STEP)


def _painting(task: Task) -> Any:
    """Return an environment that has painted a picture; raise a UserError if there is none."""
    from gymnasium.error import DependencyNotInstalled

    nothing = f"{task.config.env} has no render mode {PICTURES!r}, so there is nothing to film."
    try:
        env = task.make_env(PICTURES)
    except GarrisonError as error:
        raise (UserError(nothing) if "render_mode" in error.summary else error) from None
    try:
        if env.render_mode != PICTURES or PICTURES not in env.metadata.get("render_modes", ()):
            raise UserError(nothing)
        env.reset(seed=0)
        env.render()
    except DependencyNotInstalled as error:
        env.close()
        raise UserError(f"{task.config.env} cannot be filmed: {error}") from None
    except BaseException:
        env.close()
        raise
    return env
