"""The backends by name: one entry each, which everything that chooses, checks, times or predicts a backend reads.

A new backend is one module with a class that is called with a `Setup` (see `base.BatchedEnvs`), and one entry here. A
package above this one registers its backend with `register`, from where both are known: `garrison/__init__.py` does so
for `ray`, whose class lives in `garrison.cluster`. An entry names its class, which is imported when it is first asked
for, so nothing is loaded that is not used.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from garrison.errors import choose

if TYPE_CHECKING:
    from garrison.vector.base import BatchedEnvs


@dataclass(frozen=True)
class Backend:
    """What there is to know about a backend before its module is imported."""

    name: str
    path: str
    """Where its class is, as module:class."""
    timed: str = ""
    """Where the class is that does the same and accounts for its time; empty if there is none."""
    untimed_hint: str = ""
    """What to use instead of `timing`, for a backend without it."""
    has_processes: bool = False
    """Whether its environments live in other processes of this machine or another; these need Linux or macOS."""
    is_parallel: bool = True
    """Whether environments step at the same time."""
    caller_steps: bool = False
    """Whether the caller steps a group of its own while it waits for the others."""
    is_ready_first: bool = False
    """Whether it has `send` and `recv`, which take `batch_size` environments as they get ready."""
    rank: int = 0
    """Which one to prefer when two are about equally fast: the simpler one has the lower rank."""

    def load(self, timing: bool = False) -> "type[BatchedEnvs]":
        """Import the backend's class; with `timing`, the one that accounts for its time."""
        module, _, name = (self.timed if timing else self.path).partition(":")
        found: type[BatchedEnvs] = getattr(import_module(module), name)
        return found


BACKENDS: dict[str, Backend] = {}
"""The backends that take any environment."""
BATCH_BACKENDS = ("native", "jax")
"""Those that take only environments with a batch of their own: a compiled one, one in JAX"""


def register(backend: Backend) -> None:
    """Make a backend known to `make`."""
    BACKENDS[backend.name] = backend


def check_backend(name: str) -> str:
    """Return the name of a backend; refuse one that there is not."""
    return choose("backend", name, ["auto", *BATCH_BACKENDS, *BACKENDS])


_AT, _TIMED = "garrison.vector.backends", "garrison.vector.timing.timed_envs"

for _backend in (
    Backend("serial", f"{_AT}.serial:SerialEnvs", f"{_TIMED}:TimedSerialEnvs", is_parallel=False, rank=1),
    Backend("threads", f"{_AT}.threads:ThreadedEnvs", f"{_TIMED}:TimedThreadedEnvs", rank=2),
    Backend("pipes", f"{_AT}.pipes:PipeEnvs", f"{_TIMED}:TimedPipeEnvs", has_processes=True, rank=5),
    Backend("shared", f"{_AT}.shared:SharedEnvs", f"{_TIMED}:TimedSharedEnvs", has_processes=True, rank=3),
    Backend(
        "joint", f"{_AT}.joint:JointEnvs", f"{_TIMED}:TimedJointEnvs", has_processes=True, caller_steps=True, rank=3
    ),
    Backend(
        "async", f"{_AT}.async_:AsyncEnvs", f"{_TIMED}:TimedAsyncEnvs", has_processes=True, is_ready_first=True, rank=4
    ),
):
    register(_backend)
