"""Train a CAGE-2 defender with PPO from a preset, in a few lines."""

import sys

from garrison.runs import Experiment, preset, train


def experiment(steps: int) -> Experiment:
    """What `garrison train ppo-bline --rules head --steps STEPS` trains."""
    return preset("ppo-bline").changed(rules="head", steps=steps)


def main(steps: int = 2_000_000) -> float:
    result = train(experiment(steps)).result
    print(f"{result.steps} steps in {result.seconds:.1f} s, {result.compute} on {result.threads} threads")
    return result.metrics["rollout/ep_reward_mean"]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
