"""The settings that follow from an environment, where neither a preset nor a file names any: one place decides.

What is usual for environments of a kind: for continuous actions and for plain numbers what CleanRL and
Stable-Baselines3 begin from, for images and games what their papers used. An environment is made once, to see its
spaces.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gymnasium import spaces

from garrison.learn.config import A3CConfig, ImpalaConfig, LearnerConfig, PolicyConfig, PPOConfig
from garrison.learn.registry import LEARNERS, algorithm_of
from garrison.learn.spaces.registry import observation_form
from garrison.registration import PROCGEN_IDS, is_atari
from garrison.runs.experiment import AUTO, Experiment
from garrison.tasks.atari_games import FOR_TRAINING
from garrison.tasks.registry import EnvConfig, task_of
from garrison.vector.naming import parse_env_args, to_pairs

MLP = PolicyConfig(hidden=(64, 64), activation="tanh")
MEASURED = replace(MLP, normalise_observations=True)
CNN = PolicyConfig(hidden=(512,), activation="relu", trunk="encoder")

# A batch of 2048 steps from many environments; minibatches of 256 and a rate to match them: with 3e-4, Pendulum has
# hardly begun to learn after 150,000 steps.
PPO_NUMBERS = PPOConfig(
    steps=1_000_000,
    rollout=128,
    epochs=10,
    minibatches=8,
    learning_rate=1e-3,
    gamma=0.99,
    gae_lambda=0.95,
    clip=0.2,
    entropy_coef=0.01,
    normalise_returns=True,
    policy=MLP,
)
PPO_IMAGES = PPOConfig(
    steps=10_000_000,
    rollout=128,
    epochs=4,
    minibatches=4,
    learning_rate=2.5e-4,
    gamma=0.99,
    gae_lambda=0.95,
    entropy_coef=0.01,
    normalise_returns=True,
    policy=CNN,
)
IMPALA_NUMBERS = ImpalaConfig(
    steps=1_000_000,
    rollout=64,
    epochs=10,
    minibatches=4,
    vtrace_lambda=0.95,
    learning_rate=1e-3,
    entropy_coef=0.01,
    normalise_returns=True,
    policy=MLP,
)
IMPALA_IMAGES = ImpalaConfig(
    steps=10_000_000,
    rollout=128,
    learning_rate=3e-4,
    entropy_coef=0.01,
    normalise_returns=True,
    policy=CNN,
)
A3C_NUMBERS = A3CConfig(
    steps=1_000_000,
    rollout=32,
    gae_lambda=0.95,
    normalise_advantages="batch",
    learning_rate=1e-3,
    entropy_coef=0.01,
    normalise_returns=True,
    policy=MLP,
)
A3C_IMAGES = replace(A3C_NUMBERS, steps=10_000_000, learning_rate=2.5e-4, policy=CNN)

ENVS = {"ppo": 16, "impala": 16, "a3c": 8}
IMAGE_ENVS = {"ppo": 32, "impala": 8, "a3c": 4}
"""How many environments; for learners with actors, in each."""


@dataclass(frozen=True)
class EnvKind:
    """What the spaces of an environment are like, as far as settings depend on it."""

    observations: str
    actions: str
    has_images: bool
    is_continuous: bool

    @classmethod
    def of(cls, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> "EnvKind":
        """Tell the kind of two spaces; refuse observations that there is no form for."""
        form = observation_form(observation_space)
        leaves = list(_leaves(action_space))
        return cls(
            _short(observation_space),
            _short(action_space),
            any(leaf.encoder != "mlp" for leaf in form.leaves),
            any(isinstance(leaf, spaces.Box) for leaf in leaves),
        )


def choose_settings(env: str, algorithm: str, env_args: dict[str, Any], backend: str = "auto") -> Experiment:
    """Return the settings for an environment; it is made once, and the same environment never again.

    Args:
        env: its name.
        algorithm: the learner's name.
        env_args: arguments for what makes it.
        backend: where it is made, if that is `native`; elsewhere it does not matter.
    """
    args = _args(env) | env_args
    kind = kind_of(env, tuple(to_pairs(args)), backend == "native")
    learner = _learner(env, algorithm, kind)
    config = EnvConfig(env=env, envs=_envs(env, algorithm, kind), env_args=args)
    return Experiment(config, learner=learner, preset=AUTO)


def reason(experiment: Experiment) -> str:
    """Return what was chosen for the environment of an experiment, and why, in two lines."""
    env, algorithm = experiment.env, experiment.algorithm
    kind = kind_of(env.env, tuple(to_pairs(env.env_args)), env.backend == "native")
    what = "images" if kind.has_images else "plain numbers"
    acts = "continuous" if kind.is_continuous else "discrete"
    chosen: Any = choose_settings(env.env, algorithm, env.env_args, env.backend)
    learner, policy = chosen.learner, chosen.learner.policy
    parts = [
        f"{chosen.env.envs} environments" + (" in each actor" if LEARNERS[algorithm].has_actors else ""),
        f"rollouts of {learner.rollout}",
        f"{getattr(learner, 'epochs', 1)} passes in {getattr(learner, 'minibatches', 1)} minibatches",
        f"learning rate {learner.learning_rate:g}",
        "convolutions" if kind.has_images else f"hidden layers {' '.join(map(str, policy.hidden))}",
    ]
    parts += ["observations normalised"] if policy.normalise_observations else []
    parts += ["returns normalised"] if learner.normalise_returns else []
    parts += [f"{pair} while training" for pair in to_pairs(_args(env.env))]
    return (
        f"{env.env} shows {what}, {kind.observations}, and takes {acts} actions, {kind.actions}. Without a preset, "
        f"{algorithm} has what is usual for that:\n{', '.join(parts)}"
    )


@cache
def kind_of(env: str, pairs: tuple[str, ...], is_native: bool) -> EnvKind:
    """Make the environment once, and tell its kind."""
    config = EnvConfig(env=env, env_args=parse_env_args(pairs), backend="native" if is_native else "serial")
    made = task_of(config).make_envs(1)
    try:
        return EnvKind.of(made.single_observation_space, made.single_action_space)
    finally:
        made.close()


def _learner(env: str, algorithm: str, kind: EnvKind) -> LearnerConfig:
    numbers = (PPO_NUMBERS, IMPALA_NUMBERS, A3C_NUMBERS)
    images = (PPO_IMAGES, IMPALA_IMAGES, A3C_IMAGES)
    by_name = {algorithm_of(each): each for each in (images if kind.has_images else numbers)}
    learner: LearnerConfig = by_name.get(algorithm) or LEARNERS[algorithm].config()
    if kind.is_continuous:
        learner = replace(learner, entropy_coef=0.0, policy=learner.policy if kind.has_images else MEASURED)
    if env in PROCGEN_IDS:
        learner = replace(learner, gamma=0.999, learning_rate=5e-4, learning_rate_schedule="constant")
    if is_atari(env):
        learner = replace(learner, normalise_returns=False)  # clipped rewards have one scale already
        if isinstance(learner, PPOConfig):
            learner = replace(learner, clip=0.1, value_clip=0.1)
    return learner


def _envs(env: str, algorithm: str, kind: EnvKind) -> int:
    if is_atari(env) and algorithm == "ppo":
        return 8
    return (IMAGE_ENVS if kind.has_images else ENVS).get(algorithm, EnvConfig.envs)


def _args(env: str) -> dict[str, Any]:
    return dict(FOR_TRAINING) if is_atari(env) else {}


def _short(space: spaces.Space[Any]) -> str:
    """Return a space without its bounds, which may be long."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return f"{type(space).__name__} of {len(space.spaces)}"
    return f"Box{space.shape}" if isinstance(space, spaces.Box) else str(space)


def _leaves(space: Any) -> Any:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        for part in space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces:
            yield from _leaves(part)
    else:
        yield space
