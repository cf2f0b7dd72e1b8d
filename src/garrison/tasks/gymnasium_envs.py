"""Any environment of Gymnasium, by its id or by what makes it, stepped by a backend of `garrison.vector`."""

import traceback
from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro

from garrison.errors import GarrisonError
from garrison.tasks.task import EnvSettings, Task


@dataclass(frozen=True)
class GymnasiumSettings(EnvSettings):
    """What else can be set about an environment of Gymnasium."""

    env_args: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)
    """Other environments: arguments for gymnasium.make; YAML only."""


@dataclass(frozen=True)
class GymnasiumTask(Task):
    """Environments by their Gymnasium id, `module:Id` or `module:callable`."""

    config: GymnasiumSettings

    def make_envs(self, num_envs: int) -> Any:
        """Make a vector environment on the backend that the settings name."""
        from garrison import vector
        from garrison.vector.naming import resolve_env

        config = self.config
        try:
            return vector.make(
                resolve_env(config.env),
                num_envs,
                config.backend,
                workers=config.workers or None,
                autoreset_mode="SameStep",
                copy=False,
                timing="workers",
                **config.env_args,
            )
        except GarrisonError:
            raise
        except Exception as error:
            raise GarrisonError(
                f"the environment {config.env} could not be made: {type(error).__name__}: {error}",
                details="".join(traceback.format_exception(error)),
            ) from error

    def describe(self) -> str:
        """Return the environment's name."""
        return self.config.env

    def facts(self) -> dict[str, Any]:
        """Return the backend."""
        return {"backend": self.config.backend}
