"""Episodes as films, by Gymnasium's own recorder."""

import warnings
from pathlib import Path
from typing import Any

from garrison.errors import UserError
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
        warnings.simplefilter("ignore")  # Gymnasium warns of what is refused below, and of a folder that is there
        env = task.make_env(PICTURES)
        if env.render_mode != PICTURES:
            env.close()
            raise UserError(f"{task.config.env} has no render mode {PICTURES!r}, so there is nothing to film.")
        recorded: Any = RecordVideo(env, str(folder), episode_trigger=lambda number: number < episodes)
        return SyncVectorEnv([lambda: recorded], autoreset_mode=AutoresetMode.SAME_STEP)
