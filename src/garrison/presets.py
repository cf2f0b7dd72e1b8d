"""Named experiments: `garrison train NAME`."""

from dataclasses import replace

from garrison.config import EnvConfig, Experiment, RunConfig
from garrison.errors import choose
from garrison.learn.config import PolicyConfig, PPOConfig

DEFAULT = "ppo-mixed"

_CAGE2 = Experiment(
    env=EnvConfig(envs=1024, rules="leaderboard", length=100, observation="memory", actions="compact"),
    learner=PPOConfig(
        steps=30_000_000,
        rollout=100,
        epochs=4,
        minibatches=8,
        learning_rate=2e-3,
        gamma=0.99,
        gae_lambda=0.95,
        entropy_coef=0.01,
        entropy_schedule="linear",
        reward_scale=0.1,
        action_masks=True,
    ),
)

_CARTPOLE = Experiment(
    env=EnvConfig(env="CartPole-v1", envs=8, backend="serial"),
    run=RunConfig(checkpoint_every=10.0),
    learner=PPOConfig(
        steps=200_000,
        rollout=32,
        epochs=20,
        minibatches=1,
        gamma=0.98,
        gae_lambda=0.8,
        entropy_coef=0.0,
        policy=PolicyConfig(hidden=(64, 64)),
    ),
)

_RECORD = replace(
    _CAGE2,
    run=RunConfig(evaluate_every=5_000_000),
    learner=replace(
        _CAGE2.learner,
        steps=30_000_000,
        minibatches=16,
        learning_rate=2.5e-3,
        gamma=0.995,
        gae_lambda=0.98,
        entropy_coef_final=0.0005,
        reward_scale=0.5,
    ),
)

PRESETS: dict[str, tuple[str, Experiment]] = {
    "ppo-mixed": (
        "CAGE-2 against B_line and Meander in equal shares; the default",
        replace(_CAGE2, env=replace(_CAGE2.env, red="bline:0.5,meander:0.5")),
    ),
    "ppo-bline": ("CAGE-2 against B_line", replace(_CAGE2, env=replace(_CAGE2.env, red="bline"))),
    "ppo-meander": ("CAGE-2 against Meander", replace(_CAGE2, env=replace(_CAGE2.env, red="meander"))),
    "record": (
        "the record under the leaderboard's rules: smaller minibatches, a longer view",
        replace(_RECORD, env=replace(_RECORD.env, red="bline:0.5,meander:0.5")),
    ),
    "record-head": (
        "the record under CybORG's present rules",
        replace(_RECORD, env=replace(_RECORD.env, red="bline:0.5,meander:0.5", rules="head")),
    ),
    "ppo-cartpole": ("CartPole-v1: any Gymnasium environment works, here in seconds", _CARTPOLE),
}


def preset(name: str) -> Experiment:
    """Return a named experiment."""
    return PRESETS[choose("preset", name, list(PRESETS))][1]
