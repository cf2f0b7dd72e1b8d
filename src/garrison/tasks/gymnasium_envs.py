"""Any environment of Gymnasium, by its id or by what makes it, stepped by a backend of `garrison.vector`."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import tyro

from garrison.errors import GarrisonError
from garrison.registration import BATCHES
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
        with self._explained():
            return self._make(num_envs)

    def make_env(self, render_mode: str) -> Any:
        """Make one environment that renders itself so, if it can."""
        with self._explained():
            return self._make_one(render_mode=render_mode)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say which environment could not be made."""
        try:
            yield
        except GarrisonError:
            raise
        except Exception as error:
            raise GarrisonError(
                f"the environment {self.config.env} could not be made: {type(error).__name__}: {error}",
                details="".join(traceback.format_exception(error)),
            ) from error

    def _make_one(self, **more: Any) -> Any:
        from garrison.vector.options import makers_of

        (make,) = makers_of(resolve_env(self.config.env), 1, {**self.config.env_args, **more})
        return make()

    def _make(self, num_envs: int) -> Any:
        from garrison.vector.options import makers_of

        config = self.config
        env = resolve_env(config.env)
        if config.backend == "native" or (config.backend == "auto" and env in BATCHES):
            return self._make_on("native", env, num_envs, **config.env_args)
        # As makers, so that no argument of the environment is taken for one of `vector.make`.
        made = makers_of(env, num_envs, config.env_args) if config.env_args else env
        return self._make_on(config.backend, made, num_envs)

    def _make_on(self, backend: str, env: Any, num_envs: int, **env_args: Any) -> Any:
        from garrison import vector

        return vector.make(
            env,
            num_envs,
            backend,
            workers=self.config.workers or None,
            autoreset_mode=self.autoreset_mode,
            extras=self.extras,
            copy=False,
            timing="workers",
            ready_first=True,  # as the learners' collectors are
            **env_args,
        )

    def describe(self) -> str:
        """Return the environment's name."""
        return self.config.env

    def facts(self) -> dict[str, Any]:
        """Return the backend."""
        return {"backend": self.config.backend}
