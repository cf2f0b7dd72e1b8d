"""Train RLlib's IMPALA on CAGE-2: every env runner steps 64 environments in one compiled call.

python examples/rllib_impala.py --iterations 20
"""

import argparse
from typing import Any

from ray.rllib.algorithms.impala import IMPALAConfig

from garrison import cluster


def config(runners: int = 1, envs: int = 64) -> Any:
    return (
        IMPALAConfig()
        .environment(cluster.register(), env_config={"red": "meander", "length": 100})
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=envs,
            gym_env_vectorize_mode="vector_entry_point",
            rollout_fragment_length=50,
        )
        .training(train_batch_size_per_learner=1000, lr=5e-4, entropy_coeff=0.005)
        .reporting(min_time_s_per_iteration=2)
        .rl_module(model_config={"fcnet_hiddens": [128, 128]})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--runners", type=int, default=1)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--address", help="of a Ray cluster; by default Ray runs on this machine alone")
    args = parser.parse_args()
    cluster.connect(args.address)
    algorithm = config(args.runners, args.envs).build_algo()
    try:
        for iteration in range(1, args.iterations + 1):
            seen = algorithm.train()["env_runners"]
            steps, score = seen.get("num_env_steps_sampled_lifetime", 0), seen.get("episode_return_mean", float("nan"))
            print(f"{iteration:4d}  {steps:>9.0f} steps  return {score:8.2f}")
    finally:
        algorithm.stop()
        cluster.disconnect()


if __name__ == "__main__":
    main()
