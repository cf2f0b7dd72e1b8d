"""Train Stable-Baselines3's PPO on native CAGE-2: python examples/sb3_ppo.py [steps]."""

import sys

from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

import garrison.vector


def main(steps: int = 300_000, num_envs: int = 64) -> float:
    envs = garrison.vector.make(
        "garrison/CAGE2-v0", num_envs, "native", autoreset_mode="same_step", red="bline", length=100
    )
    settings = {"n_steps": 64, "batch_size": 1024, "ent_coef": 0.01, "seed": 0}
    model = PPO("MlpPolicy", garrison.vector.sb3(envs), **settings, device="cpu", verbose=1)
    model.learn(steps)
    score, spread = evaluate_policy(model, VecMonitor(garrison.vector.sb3(envs)), n_eval_episodes=max(64, num_envs))
    print(f"mean return over 100 steps against B_line: {score:.1f} +- {spread:.1f}")
    envs.close()
    return float(score)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
