"""The environments that every trainer is measured on; importing this does not import torch."""

from typing import Any

from garrison.bench.synthetic import Synthetic

Job = dict[str, int]
"""num_envs, rollout, minibatches and epochs."""
CAGE2_OPTIONS: dict[str, Any] = {"red": "bline", "length": 100}


def native_envs(num_envs: int) -> Any:
    """Return the native batch that every trainer is measured on."""
    from garrison.cage2 import VectorEnv

    return VectorEnv(num_envs, **CAGE2_OPTIONS, autoreset_mode="SameStep", copy=False)


def python_envs(
    num_envs: int, env: str, options: dict[str, Any], backend: str = "serial", workers: int | None = None
) -> Any:
    """Return Python environments behind a backend: "synthetic" or a Gymnasium id."""
    from garrison import vector

    target = Synthetic if env == "synthetic" else env
    return vector.make(target, num_envs, backend, workers=workers, autoreset_mode="same_step", copy=False, **options)
