"""Facts about this machine and its processes, and which optional packages are installed."""

import hashlib
import os
import platform
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from garrison.errors import UserError
from garrison.version import __version__

PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "torch",
    "stable-baselines3",
    "sbx-rl",
    "pufferlib",
    "torchrl",
    "tianshou",
    "envpool",
    "ray",
    "procgen-mirror",
    "ale-py",
    "mujoco",
    "jax",
    "jaxlib",
)
"""What a measured number may depend on."""
MEGABYTE = 2**20
SOURCES = Path(__file__).parent
IS_PUBLISHED = False
"""Whether `pip install garrison` finds this project on an index; decides what every hint to install an extra says."""

_EXTRAS = {
    "torch": ("PyTorch", "train"),
    "yaml": ("PyYAML", "train"),
    "matplotlib": ("Matplotlib", "report"),
    "sklearn": ("scikit-learn", "workflow"),
    "ray": ("Ray", "ray"),
    "moviepy": ("MoviePy", "video"),
    "stable_baselines3": ("Stable-Baselines3", "sb3"),
    "ale_py": ("The Arcade Learning Environment", "atari"),
    "mujoco": ("MuJoCo", "mujoco"),
    "jax": ("JAX", "jax"),
    "optax": ("Optax", "jax"),
    "prettytable": ("PrettyTable", "cyborg"),
    "optuna": ("Optuna", "sweep"),
    "cmaes": ("CMA-ES", "sweep"),
    "tensorboard": ("TensorBoard", "train"),
    "wandb": ("Weights & Biases", "wandb"),
    "mlflow": ("MLflow", "mlflow"),
    "onnx": ("ONNX", "export"),
    "onnxruntime": ("ONNX Runtime", "export"),
    "huggingface_hub": ("The Hugging Face hub's client", "hub"),
    "pettingzoo": ("PettingZoo", "pettingzoo"),
}
_COMMANDS = {
    # Its wheels ask for NumPy 1, gym and gym3, none of which our adapter needs, so no extra can name them.
    "procgen": ("Procgen", "pip install --no-deps procgen-mirror (Linux with Python 3.11 or 3.12)"),
}


def install(extras: str) -> str:
    """Return the command that installs extras: from the clone that this runs from, as long as there is no other place.

    Args:
        extras: such as `train` or `train,ray`.
    """
    clone = SOURCES.parent.parent
    if IS_PUBLISHED or not (clone / "pyproject.toml").is_file():
        return f"pip install 'garrison[{extras}]'"
    return f"pip install -e '{'.' if clone == Path.cwd() else clone}[{extras}]'"


def missing(module: str) -> str:
    """Return the sentence that says what to install if this optional module is missing; "" if it is there."""
    if find_spec(module) is not None:
        return ""
    name, command = _COMMANDS.get(module) or (_EXTRAS[module][0], install(_EXTRAS[module][1]))
    return f"{name} is not installed: {command}"


def require(*modules: str) -> None:
    """Raise a `UserError` that names the extra to install if one of these optional modules is missing."""
    for module in modules:
        if said := missing(module):
            raise UserError(said)


def cores() -> int:
    """Return how many cores this process may use.

    Where a process cannot be bound to cores, Python's own variable PYTHON_CPU_COUNT says how many are its share.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    told = os.environ.get("PYTHON_CPU_COUNT", "")
    return int(told) if told.isdecimal() and int(told) else os.cpu_count() or 1


def let_idle_threads_sleep() -> None:
    """Ask OpenMP, where nobody has said otherwise, to let threads without work sleep soon; call it before torch loads.

    By default they spin for milliseconds, and take the cores from environments, workers and other threads that have
    work: on a busy machine training was measured two to eight times slower. Not spinning at all costs up to a tenth on
    a quiet one, this number of rounds (some ten microseconds) less.
    """
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & set(os.environ):
        os.environ["GOMP_SPINCOUNT"] = "20000"


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):  # psutil does not know the name either
        return platform.processor() or platform.machine()


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Return the versions of those packages that are installed, Garrison's own first."""
    found = {"garrison": __version__}
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def facts() -> dict[str, Any]:
    """Return what a measured number depends on besides its settings: machine, load, versions, sources."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_mb": psutil.virtual_memory().total // MEGABYTE,
        "load_before": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "versions": versions(),
        "git": git_commit(),
        "sim_hash": simulator_hash(),
    }


def git_commit() -> str | None:
    """Return the commit of the sources, marked `+changes` when the tree differs from it; None outside a repository."""

    def git(*arguments: str) -> str:
        # Without optional locks: an interrupt kills git, and a lock that it held would stay in the clone.
        command = ["git", "--no-optional-locks", *arguments]
        done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        commit = git("rev-parse", "--short=12", "HEAD")
        return commit + "+changes" if git("status", "--porcelain", "--untracked-files=no") else commit
    except (OSError, subprocess.CalledProcessError):
        return None


def simulator_hash() -> str:
    """Hash the simulator's sources, so that a result can be told from one of another version."""
    digest = hashlib.sha256()
    for file in sorted((SOURCES / "cage2").glob("*")):
        if file.suffix in (".py", ".toml"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def process_tree(root: int) -> list[int]:
    """Return the ids of `root` and of all its living descendants."""
    try:
        children = psutil.Process(root).children(recursive=True)
    except psutil.NoSuchProcess:
        return [root]
    return [root, *(child.pid for child in children)]


def cpu_seconds(processes: list[int]) -> float:
    """Return user and system time of living processes and of their reaped children."""
    total = 0.0
    for process in processes:
        try:
            total += sum(psutil.Process(process).cpu_times()[:4])  # user, system, and both of the reaped children
        except psutil.Error:
            continue
    return total


def stolen_seconds() -> float:
    """Return what others on the same host have taken of this virtual machine's cores so far; 0.0 where nobody tells."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def memory_mb(processes: list[int]) -> tuple[float, float]:
    """Return the sum of the processes' peak resident memory, and of their present share (shared pages counted once)."""
    peak = share = 0.0
    for process in processes:
        try:
            info = psutil.Process(process).memory_full_info()
        except psutil.Error:
            continue
        share += getattr(info, "pss", info.rss)
        peak += max(_peak_bytes(process), info.rss)
    return peak / MEGABYTE, share / MEGABYTE


def _peak_bytes(process: int) -> int:
    # psutil does not report the highest resident size on Linux.
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
