"""What `gymnasium.make` finds once `garrison` is imported."""

from gymnasium.envs import registration

CAGE2 = "garrison/CAGE2-v0"
CAGE2_TEXT = "garrison/CAGE2-Text-v0"
CAGE2_RED = "garrison/CAGE2Red-v0"
"""The same for Red, against a frozen defender."""
PROCGEN_GAMES = (
    "bigfish",
    "bossfight",
    "caveflyer",
    "chaser",
    "climber",
    "coinrun",
    "dodgeball",
    "fruitbot",
    "heist",
    "jumper",
    "leaper",
    "maze",
    "miner",
    "ninja",
    "plunder",
    "starpilot",
)
PROCGEN_IDS = {f"procgen-{game}-v0": game for game in PROCGEN_GAMES}
"""Procgen's games under the ids that its own package gives them."""
BATCHES = {CAGE2: ("NEXT_STEP", "SAME_STEP", "DISABLED")} | dict.fromkeys(PROCGEN_IDS, ("SAME_STEP",))
"""Ids with a batch that gives the same bytes as their single environments, seed by seed, and its autoreset modes."""


def is_atari(env_id: str) -> bool:
    """Return whether this is the id of an Atari game, which there is once `ale_py` is imported.

    >>> is_atari("ALE/Pong-v5"), is_atari("PongNoFrameskip-v4"), is_atari("ale_py:ALE/Pong-v5")
    (True, True, False)
    """
    return env_id.startswith("ALE/") or ("NoFrameskip-v" in env_id and ":" not in env_id)


def register() -> None:
    """Add Garrison's environments to Gymnasium's registry; `import garrison` does this."""
    if CAGE2 not in registration.registry:
        registration.register(
            id=CAGE2,
            entry_point="garrison.cage2.env:Env",
            vector_entry_point="garrison.cage2.vector_env:VectorEnv",
        )
    if CAGE2_TEXT not in registration.registry:
        registration.register(id=CAGE2_TEXT, entry_point="garrison.text.text_env:TextEnv")
    if CAGE2_RED not in registration.registry:
        registration.register(
            id=CAGE2_RED,
            entry_point="garrison.agents.red_side:RedEnv",
            vector_entry_point="garrison.agents.red_side:RedVectorEnv",
        )
    if "garrison/CybORG-v0" not in registration.registry:
        registration.register(id="garrison/CybORG-v0", entry_point="garrison.cage2.cyborg:CyborgEnv")
    for name, game in PROCGEN_IDS.items():
        if name not in registration.registry:
            registration.register(
                id=name,
                entry_point="garrison.games.procgen:ProcgenEnv",
                vector_entry_point="garrison.games.procgen:ProcgenVectorEnv",
                kwargs={"env_name": game},
            )
