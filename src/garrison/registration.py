"""What `gymnasium.make` finds once `garrison` is imported."""

from gymnasium.envs import registration

CAGE2 = "garrison/CAGE2-v0"


def register() -> None:
    """Add Garrison's environments to Gymnasium's registry; `import garrison` does this."""
    if CAGE2 not in registration.registry:
        registration.register(
            id=CAGE2,
            entry_point="garrison.cage2.env:Env",
            vector_entry_point="garrison.cage2.vector_env:VectorEnv",
        )
    if "garrison/CybORG-v0" not in registration.registry:
        registration.register(id="garrison/CybORG-v0", entry_point="garrison.cage2.cyborg:CyborgEnv")
