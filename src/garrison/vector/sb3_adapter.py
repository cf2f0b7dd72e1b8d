"""Any backend, the native batch included, as a Stable-Baselines3 `VecEnv`."""

from typing import TYPE_CHECKING, Any

from gymnasium.vector import AutoresetMode, VectorEnv

from garrison.errors import UserError
from garrison.system import install

if TYPE_CHECKING:
    from garrison.vector.sb3_env import Sb3Env


def sb3(envs: VectorEnv[Any, Any, Any]) -> "Sb3Env":
    """Show `envs` to Stable-Baselines3.

    SB3 wants the first observation of the next episode in the step that ends one, so make `envs` with
    `autoreset_mode="same_step"` (or "disabled": then this resets what has ended). Infos carry `terminal_observation`,
    `TimeLimit.truncated` and `episode` as SB3's Monitor and DummyVecEnv would.
    """
    try:
        from garrison.vector.sb3_env import Sb3Env
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "stable_baselines3":
            raise
        raise UserError(f"Stable-Baselines3 is not installed: {install('sb3')}") from error
    if envs.metadata.get("autoreset_mode") is AutoresetMode.NEXT_STEP:
        raise UserError(
            "Stable-Baselines3 has no place for the extra step of NEXT_STEP autoreset; "
            'make the environments with autoreset_mode="same_step"'
        )
    return Sb3Env(envs)
