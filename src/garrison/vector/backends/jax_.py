"""`jax`: CAGE-2 on JAX's default device, behind the same front as the compiled batch and with the same results."""

from typing import Any

from gymnasium.vector import AutoresetMode, VectorEnv

from garrison.registration import CAGE2
from garrison.vector.backends import native
from garrison.vector.extras import Cadences

ENTRY_POINTS = {CAGE2: "garrison.jaxsim.jax_vector_env:JaxVectorEnv"}
"""The environments that there are in JAX; the module is imported, and JAX with it, when one is made."""


class JaxEnvs(native.NativeEnvs):
    """Passes everything on to the batch in JAX; extras are brought from the device after every step."""

    backend = "jax"

    def __init__(self, env: VectorEnv[Any, Any, Any], *, copy: bool, extras: Cadences) -> None:
        super().__init__(env, copy=copy, extras=extras)
        batch: Any = env.unwrapped
        batch.follow(extras)


def make(env_id: str, num_envs: int, mode: AutoresetMode, *, copy: bool, extras: Cadences, **kwargs: Any) -> JaxEnvs:
    """Make the batch of `env_id` in JAX."""
    envs = native.make(
        env_id, num_envs, mode, JaxEnvs, copy=copy, extras=extras, entry_point=ENTRY_POINTS[env_id], **kwargs
    )
    assert isinstance(envs, JaxEnvs)
    return envs
