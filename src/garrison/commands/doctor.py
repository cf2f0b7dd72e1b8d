"""`garrison doctor`: is this machine ready, and how fast is it?"""

import platform
import sys
from dataclasses import dataclass
from time import perf_counter

import tyro

from garrison.system import cores, install, versions
from garrison.version import __version__

CORE = ("numpy", "numba", "gymnasium", "tyro", "rich")
EXTRAS = {
    "train": ("torch", "pyyaml", "tensorboard"),
    "report": ("matplotlib",),
    "workflow": ("scikit-learn",),
    "sb3": ("stable-baselines3",),
    "ray": ("ray",),
    "jax": ("jax", "optax"),
    "cyborg": ("prettytable",),
    "wandb": ("wandb",),
    "mlflow": ("mlflow-skinny",),
    "export": ("onnx", "onnxruntime"),
    "hub": ("huggingface_hub",),
    "atari": ("ale-py",),
    "mujoco": ("mujoco",),
    "video": ("moviepy",),
}


@dataclass(frozen=True)
class Arguments:
    """Show the versions, the cores, the cache folder and whether the kernels are compiled, and check the speed."""


def main(arguments: list[str]) -> int:
    """Run `garrison doctor`."""
    tyro.cli(Arguments, prog="garrison doctor", args=arguments)

    from garrison.cage2.step import are_compiled, warm_up
    from garrison.jit import COMPILED, cache_folder

    print(f"garrison    {__version__}")
    print(f"python      {platform.python_version()} ({sys.executable})")
    print(f"system      {platform.platform()}, {cores()} cores")
    for package in CORE:
        print(f"{package:<11} {versions((package,)).get(package)}")
    for extra, packages in EXTRAS.items():
        found = versions(packages)
        have = ", ".join(f"{package} {found[package]}" for package in packages if package in found)
        missing = [package for package in packages if package not in found]
        hint = f"; for {', '.join(missing)}: {install(extra)}" if missing else ""
        print(f"[{extra}]".ljust(11), (have or "not installed") + hint)
    print(f"cache       {cache_folder()}")
    if not COMPILED:
        print("kernels     plain Python, because NUMBA_DISABLE_JIT is set: about a thousand times slower")
        return 0
    print(f"kernels     {'compiled' if are_compiled() else 'not compiled yet'}")
    began = perf_counter()
    warm_up()
    print(f"            ready after {perf_counter() - began:.1f} s")
    print(f"speed       {speed() / 1e6:.1f} million steps/s (1,000 environments, one thread, two seconds)")
    return 0


def speed(seconds: float = 2.0) -> float:
    """Return steps per second of 1,000 environments on one thread, random actions, automatic resets."""
    import numpy as np

    from garrison.cage2.vector_env import VectorEnv

    envs = VectorEnv(1000, red={"bline": 0.5, "meander": 0.5}, autoreset_mode="SameStep", copy=False)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, (64, 1000))
    steps, began = 0, perf_counter()
    while perf_counter() - began < seconds:
        for row in actions:
            envs.step(row)
        steps += actions.size
    return steps / (perf_counter() - began)
