"""Train a CAGE-2 defender with PPO, in a few lines, and print how it goes."""

import sys

from garrison.cage2 import VectorEnv
from garrison.learn import PPOConfig, RunLog, train


class Printer(RunLog):
    def log(self, step: int, metrics: dict[str, float]) -> None:
        speed, score = metrics["time/fps"], metrics.get("rollout/ep_reward_mean", float("nan"))
        print(f"{step:>9} steps   {speed:>9,.0f} steps/s   mean return {score:8.2f}")


def main(steps: int = 2_000_000) -> float:
    envs = VectorEnv(1024, red="bline", length=100, autoreset_mode="SameStep")
    result = train(PPOConfig(steps=steps), envs, run=Printer())
    print(f"{result.steps} steps in {result.seconds:.1f} s, {result.compute} on {result.threads} threads")
    return result.metrics["rollout/ep_reward_mean"]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
