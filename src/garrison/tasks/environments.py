"""The environments that an experiment names, ready to train in."""

from typing import Any

from garrison.errors import UserError
from garrison.runs.experiment import EnvConfig


def make_envs(config: EnvConfig, num_envs: int | None = None) -> Any:
    """Make the environments to train in: all of them, or `num_envs` for one of several actors."""
    num_envs = num_envs or config.envs
    if not config.is_cage2:
        import gymnasium

        from garrison import vector

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
    odds = config.red_odds
    arguments: dict[str, Any] = {
        "red": odds if len(odds) > 1 else next(iter(odds)),
        "rules": config.rules,
        "length": config.length,
        "encoder": config.encoder,
        "observation": config.observation,
        "actions": config.actions,
        "autoreset_mode": "SameStep",
    }
    if config.backend in ("auto", "native"):
        from garrison.cage2 import VectorEnv

        return VectorEnv(num_envs, **arguments)
    from garrison import vector

    workers = config.workers or None
    return vector.make(config.env, num_envs, config.backend, workers=workers, timing="workers", **arguments)
