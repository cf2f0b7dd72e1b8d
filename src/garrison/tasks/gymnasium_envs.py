"""Any environment that `gymnasium.make` knows, stepped by a backend of `garrison.vector`."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro

from garrison.errors import UserError
from garrison.tasks.task import EnvSettings, Task


@dataclass(frozen=True)
class GymnasiumSettings(EnvSettings):
    """What else can be set about an environment of Gymnasium."""

    env_args: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)
    """Other environments: arguments for gymnasium.make; YAML only."""


@dataclass(frozen=True)
class GymnasiumTask(Task):
    """Environments by their Gymnasium id."""

    config: GymnasiumSettings

    def make_envs(self, num_envs: int) -> Any:
        """Make a vector environment on the backend that the settings name."""
        import gymnasium

        from garrison import vector

        config = self.config
        try:
            gymnasium.spec(config.env)
        except (gymnasium.error.Error, ModuleNotFoundError) as error:
            raise UserError(f"no environment {config.env!r}: {error}") from None
        return vector.make(
            config.env,
            num_envs,
            config.backend,
            workers=config.workers or None,
            autoreset_mode="SameStep",
            timing="workers",
            **config.env_args,
        )

    def describe(self) -> str:
        """Return the environment's id."""
        return self.config.env

    def facts(self) -> dict[str, Any]:
        """Return the backend."""
        return {"backend": self.config.backend}
