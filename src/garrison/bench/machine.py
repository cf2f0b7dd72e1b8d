"""What a number depends on besides the code: the machine's facts, and the time and memory of a tree of processes."""

import hashlib
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import garrison

PACKAGES = ("numpy", "numba", "gymnasium", "torch", "stable-baselines3", "pufferlib", "ray")
MEGABYTE = 2**20


def facts() -> dict[str, Any]:
    """Return CPU, cores, load, versions, git commit and the hash of the simulator's sources."""
    return {
        "cpu": _cpu_model(),
        "cores": cores(),
        "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEGABYTE,
        "load_before": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "versions": {"garrison": garrison.__version__, **versions()},
        "git": git_commit(),
        "sim_hash": sim_hash(),
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def doubling(most: int) -> list[int]:
    """Return 1, 2, 4, ... below `most`, and `most`."""
    return [*(2**k for k in range(most.bit_length()) if 2**k < most), most]


def versions() -> dict[str, str]:
    """Return the versions of the packages that matter, those that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit() -> str | None:
    """Return the commit of the sources, marked `+changes` when the tree differs from it; None outside a repository."""
    folder = Path(garrison.__file__).parent

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        commit = git("rev-parse", "--short=12", "HEAD")
        return commit + "+changes" if git("status", "--porcelain", "--untracked-files=no") else commit
    except (OSError, subprocess.CalledProcessError):
        return None


def sim_hash() -> str:
    """Hash the simulator's sources, so that a result can be told from one of another version."""
    digest = hashlib.sha256()
    for file in sorted((Path(garrison.__file__).parent / "cage2").glob("*")):
        if file.suffix in (".py", ".toml"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def tree(root: int) -> list[int]:
    """Return the ids of `root` and all its living descendants; only `root` where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        fields = _stat(int(entry.name))
        if fields and fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def cpu_seconds(processes: list[int]) -> float:
    """Return user and system time of living processes and of their reaped children, in seconds."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0
    for process in processes:
        if fields := _stat(process):
            total += sum(map(int, fields[11:15]))  # utime, stime, and both of the waited-for children
    return total / ticks


def memory_mb(processes: list[int]) -> tuple[float, float]:
    """Return the sum of the processes' peak resident memory, and of their present share (shared pages counted once)."""
    peak = share = 0
    for process in processes:
        peak += _kilobytes(process, "status", "VmHWM:")
        share += _kilobytes(process, "smaps_rollup", "Pss:")
    return peak / 1024, share / 1024


def _stat(process: int) -> list[str] | None:
    # The command's name may hold spaces and brackets: the fields that can be split begin after the last bracket.
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _kilobytes(process: int, file: str, label: str) -> int:
    try:
        lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(label)), 0)


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
