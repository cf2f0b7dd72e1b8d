"""What `gymnasium.make` finds: Gymnasium calls `register` through an entry point when it is first imported."""


def register() -> None:
    """Add Garrison's environments to Gymnasium's registry; importing Gymnasium does this by itself."""
    from gymnasium.envs.registration import register as add
    from gymnasium.envs.registration import registry

    if "garrison/CAGE2-v0" not in registry:
        add(
            id="garrison/CAGE2-v0",
            entry_point="garrison.cage2.env:Env",
            vector_entry_point="garrison.cage2.vector_env:VectorEnv",
        )
