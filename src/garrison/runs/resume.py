"""Continuing a run: what must fit, what may differ, and how exact it will be."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.registry import LEARNERS
from garrison.runs.folder import RunFolder
from garrison.runs.view import View
from garrison.storage import checkpoint
from garrison.storage.dotted import flat
from garrison.storage.saved_run import agents_of, require_run


@contextmanager
def open_folder(out: str, stem: str, resume: str) -> Iterator[tuple[RunFolder, dict[str, Any] | None]]:
    """Give the folder of a new run, or the one to resume with its checkpoint's values, as its only writer."""
    folder = RunFolder.open(Path(resume)) if resume else RunFolder.fresh(out, stem)
    with folder.held(is_new=not resume):
        yield folder, resume_values(folder) if resume else None


def resume_values(folder: RunFolder) -> dict[str, Any]:
    """Return the values of the checkpoint that a run continues from."""
    folder.reopen()
    values = checkpoint.load(folder.path)
    require_run(values, str(folder.checkpoint), {name: learner.keeps for name, learner in LEARNERS.items()})
    return values


def check_fits(values: dict[str, Any], about: dict[str, Any], fixed: tuple[str, ...], agents: int) -> None:
    """Refuse to resume with settings that the saved state does not fit, before anything is written.

    `fixed` are the environments' settings that must be as before, `agents` is how many are to be trained.
    """
    algorithm = values["state"]["algorithm"]
    if algorithm not in about["experiment"]:
        raise UserError(f"cannot resume: the run was trained by {algorithm}.")
    if (saved_agents := len(agents_of(values["state"]))) != agents:
        raise UserError(f"cannot resume with {agents} seeds: the run has {saved_agents}; start a new one.")
    before, now = values["experiment"]["env"], about["experiment"]["env"]
    for name in fixed:
        if before.get(name) != now[name]:
            raise UserError(
                f"cannot resume with --{name} {now[name]}: the run has {before.get(name)}; start a new one."
            )
    # A setting that the run's version did not have yet is as it was before there was one: the default.
    saved = {**asdict(PolicyConfig()), **values["policy"]["config"]}
    for name, value in about["policy"]["config"].items():
        if saved.get(name) != value:
            raise UserError(
                f"cannot resume with {name} {value}: the run's network has {saved.get(name)}; start a new one."
            )


def check_unfinished(folder: RunFolder, values: dict[str, Any], steps: int, seconds: float | None) -> None:
    """Refuse to continue a run that has reached its end and knows it, before anything is written.

    `steps` and `seconds` say where the end is; the steps count only if the time does not decide.
    """
    if folder.read_summary().get("status") != "finished":  # killed at the very end: its summary is still to be written
        return
    made, took = values["state"]["steps"], values["seconds"]
    if seconds is None and made >= steps:
        done, more = f"it has made {made:,} of {steps:,} steps", f"--steps {2 * made}"
    elif seconds is not None and took >= seconds:
        done, more = f"it has trained for {took:,.0f} of {seconds:,.0f} s", f"--duration {2 * took:.0f}s"
    else:
        return
    raise UserError(f"the run is finished: {done}.", hint=f"To train on, give it more in all, such as {more}.")


def prepare_resume(values: dict[str, Any], about: dict[str, Any], envs: Any, view: View) -> dict[str, Any]:
    """Return the state to continue from; say what differs from the part before, and how exact it will be."""
    before, now = (flat(each["experiment"]) for each in (values, about))
    # The preset is only where the settings began. Runs of old versions lack settings that have come since.
    changed = [name for name in now if name != "preset" and name in before and now[name] != before[name]]
    state: dict[str, Any] = checkpoint.tensors(values["state"])
    scenes = [agent["collector"] for agent in agents_of(state)]
    where = f"resuming at step {state['steps']:,}"
    if changed:
        where += f" with other settings than before ({', '.join(changed)})"
    if any(scene["envs"] is None for scene in scenes) or not hasattr(envs, "set_state"):
        view.say(f"{where}; these environments cannot save their state, so new episodes begin: not bit for bit.")
    elif values.get("layout") != about["layout"]:
        _forget_episodes(scenes)
        view.say(f"{where}; this version of Garrison keeps episodes in another form, so new ones begin.")
    elif any(name.startswith("env.") and name != "env.workers" for name in changed):
        _forget_episodes(scenes)
        view.say(f"{where}; the saved episodes do not fit these, so new ones begin.")
    else:
        view.say(f"{where}, bit for bit where the run stopped.")
    return state


def _forget_episodes(scenes: list[dict[str, Any]]) -> None:
    for scene in scenes:
        scene["envs"] = None


def layout(envs: Any) -> str | None:
    """Name the fields of the environments' saved state, where it is records: another version may have others."""
    if not hasattr(envs, "get_state"):
        return None
    envs.reset(seed=0)
    state = envs.get_state()
    return str(state.dtype) if isinstance(state, np.ndarray) else None
