"""Sample Factory's APPO on the synthetic environment; it needs an interpreter of its own, with an older Gymnasium."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from garrison.bench.method.fresh import Work
from garrison.bench.synthetic import Synthetic

ENV = "garrison_synthetic"


@contextmanager
def appo(
    num_envs: int, rollout: int, workers: int, minibatches: int, rounds: int, hidden: int = 64, uneven: bool = True
) -> Iterator[Work]:
    """Asynchronous PPO as its users start it: `workers` processes with `num_envs` in all, one learner."""
    context = multiprocessing.get_context("spawn")
    steps: Any = context.Value("q", 0)
    settings = {"num_envs": num_envs, "rollout": rollout, "workers": workers, "minibatches": minibatches}
    settings |= {"hidden": hidden, "rounds": rounds, "uneven": uneven}
    trainer = context.Process(target=_train, args=(settings, steps))
    trainer.start()
    seen: int = 0

    def advance() -> int:
        nonlocal seen
        while steps.value == seen:
            if not trainer.is_alive():
                raise RuntimeError(f"Sample Factory ended with code {trainer.exitcode}")
            time.sleep(0.01)
        before, seen = seen, int(steps.value)
        return seen - before

    yield Work(advance)
    trainer.kill()
    trainer.join()


def _make(rounds: int, uneven: bool, name: str, cfg: Any, env_config: Any, render_mode: str | None = None) -> Synthetic:
    return Synthetic(rounds, uneven)


def _train(settings: dict[str, Any], steps: Any) -> None:
    from sample_factory.algo.runners.runner import AlgoObserver
    from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
    from sample_factory.envs.env_utils import register_env
    from sample_factory.train import make_runner

    class Count(AlgoObserver):  # type: ignore[misc]  # Sample Factory has no types
        def on_training_step(self, runner: Any, training_iteration_since_resume: int) -> None:
            steps.value = sum(runner.env_steps.values())

    register_env(ENV, partial(_make, settings["rounds"], settings["uneven"]))
    with tempfile.TemporaryDirectory() as folder:
        flags = {
            "algo": "APPO",
            "env": ENV,
            "train_dir": folder,
            "experiment": "bench",
            "device": "cpu",
            "num_workers": settings["workers"],
            "num_envs_per_worker": settings["num_envs"] // settings["workers"],
            "worker_num_splits": 2,
            "rollout": settings["rollout"],
            "batch_size": settings["num_envs"] * settings["rollout"] // settings["minibatches"],
            "num_batches_per_epoch": settings["minibatches"],
            "num_epochs": 1,
            "use_rnn": False,
            "normalize_input": False,
            "encoder_mlp_layers": [settings["hidden"], settings["hidden"]],
            "nonlinearity": "tanh",
            "actor_critic_share_weights": False,
            "save_every_sec": 10**6,
            "with_wandb": False,
        }
        words: list[str] = []
        for name, value in flags.items():
            words += [f"--{name}", *map(str, value)] if isinstance(value, list) else [f"--{name}={value}"]
        parser, _ = parse_sf_args(words)
        _, runner = make_runner(parse_full_cfg(parser, words))
        runner.register_observer(Count())
        runner.init()
        runner.run()
