"""Any environment of Gymnasium, by its id or by what makes it, stepped by a backend of `garrison.vector`."""

import traceback
from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro

from garrison.errors import GarrisonError
from garrison.tasks.task import EnvSettings, Task
from garrison.vector.naming import parse_env_args, resolve_env, to_pairs

_PAIRS: Any = tyro.constructors.PrimitiveConstructorSpec(
    nargs="*",
    metavar="[KEY=VALUE ...]",
    instance_from_str=parse_env_args,
    is_instance=lambda value: isinstance(value, dict),
    str_from_instance=to_pairs,
)


@dataclass(frozen=True)
class GymnasiumSettings(EnvSettings):
    """What else can be set about an environment of Gymnasium."""

    env_args: Annotated[dict[str, Any], _PAIRS] = field(default_factory=dict)
    """Other environments: arguments for what makes them."""


@dataclass(frozen=True)
class GymnasiumTask(Task):
    """Environments by their Gymnasium id, `module:Id` or `module:callable`."""

    config: GymnasiumSettings

    def make_envs(self, num_envs: int) -> Any:
        """Make a vector environment on the backend that the settings name."""
        from garrison import vector
        from garrison.vector.options import makers_of

        config = self.config
        env: Any = resolve_env(config.env)
        if config.env_args and config.backend != "native":
            # So that no argument of the environment is taken for one of `vector.make`.
            env = makers_of(env, num_envs, config.env_args)
        try:
            return vector.make(
                env,
                num_envs,
                config.backend,
                workers=config.workers or None,
                autoreset_mode="SameStep",
                copy=False,
                timing="workers",
                ready_first=True,  # as the learners' collectors are
                **(config.env_args if config.backend == "native" else {}),
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
