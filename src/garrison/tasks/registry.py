"""Which family an environment belongs to, and the settings of all families as one flat section of a file.

A new family is a module with its `Task`, and a line in `TASKS`, or in `family_of` if a form of id tells it; settings of
its own join the bases of `EnvConfig`.
"""

from dataclasses import dataclass

from garrison.errors import UserError
from garrison.registration import CAGE2, CAGE2_RED, is_atari
from garrison.tasks.atari_games import AtariTask
from garrison.tasks.cage2 import Cage2Task
from garrison.tasks.cage2_red import Cage2RedSettings, Cage2RedTask
from garrison.tasks.gymnasium_envs import GymnasiumSettings, GymnasiumTask
from garrison.tasks.task import Task


@dataclass(frozen=True)
class EnvConfig(GymnasiumSettings, Cage2RedSettings):
    """The environments to train in."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.env_args and not issubclass(family_of(self.env), GymnasiumTask):
            raise UserError(f"env_args are for other environments than {self.env}, which has settings of its own.")


TASKS: dict[str, type[Task]] = {CAGE2: Cage2Task, CAGE2_RED: Cage2RedTask}
"""Environments whose family knows more about them than Gymnasium does."""


def family_of(env: str) -> type[Task]:
    """Return the family of an environment."""
    return AtariTask if is_atari(env) else TASKS.get(env, GymnasiumTask)


def task_of(config: EnvConfig, extras: tuple[str, ...] = ()) -> Task:
    """Return the task of these environments, which publish these extras."""
    return family_of(config.env)(config, extras=extras)
