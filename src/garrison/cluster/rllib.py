"""RLlib on the compiled batch: an env runner steps all its environments in one call instead of one by one.

RLlib's runner asks for a vector environment when `gym_env_vectorize_mode` is `vector_entry_point`; the environment that
`register` names answers with the native batch, and with a single environment when RLlib only wants to see one.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from garrison.errors import UserError
from garrison.system import install

NAME = "garrison/CAGE2-v0"
SETTINGS = {"gym_env_vectorize_mode": "vector_entry_point"}
"""What to pass to RLlib's `config.env_runners(...)` so that it asks for a batch."""


def register(name: str = NAME) -> str:
    """Register CAGE-2 with RLlib under `name` and return the name; `env_config` takes the settings of the environment.

    Use it with the new API stack:

        config = PPOConfig().environment(register(), env_config={"red": "meander"})
        config.env_runners(num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point")
    """
    try:
        registry = import_module("ray.tune.registry")
        import_module("ray.rllib")
    except ImportError as error:
        raise UserError(f"RLlib is not installed: {install('ray')} 'ray[rllib]'") from error
    registry.register_env(name, make)
    return name


def make(settings: Mapping[str, Any]) -> Any:
    """Make what RLlib asks for: a batch if the settings say `num_envs`, otherwise one environment.

    Observations become floats, which RLlib's networks want, and are RLlib's to keep.
    """
    kwargs = dict(settings)
    num_envs = kwargs.pop("num_envs", None)
    if num_envs is None:
        from garrison.cage2.env import Env

        return gymnasium.wrappers.DtypeObservation(Env(**kwargs), np.float32)
    from garrison.cage2.vector_env import VectorEnv

    # A fresh array comes out of the conversion, but rewards and flags would be the batch's own without copy.
    return gymnasium.wrappers.vector.DtypeObservation(VectorEnv(num_envs, **kwargs), np.float32)
