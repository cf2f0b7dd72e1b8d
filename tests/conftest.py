"""Settings for the whole suite, made before Numba is imported; and who may run beside whom."""

import fcntl
import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

# Kernels are tested with bounds checks; their machine code is cached apart from the fast one.
os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")

import pytest
from hypothesis import HealthCheck, settings

ROOM = "GARRISON_TESTS_ROOM"
PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"  # the same kernels as plain Python, a thousand times slower

# Examples follow from the test, not from chance, so a failure repeats; the first one may include a compile.
settings.register_profile(
    "suite",
    derandomize=True,
    deadline=None,
    max_examples=25 if PLAIN else 200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run a test that is marked `alone` while the other workers of this session (`-n 2`) pause between two tests."""
    if ROOM not in os.environ:
        return (yield)
    is_alone = item.get_closest_marker("alone") is not None
    with ExitStack() as room:
        # Who wants to be alone holds the door while the others leave; else they might always be back before it is in.
        with locked("door", fcntl.LOCK_EX):
            room.enter_context(locked("room", fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH))
        return (yield)


@contextmanager
def locked(name: str, how: int) -> Iterator[None]:
    """Hold a lock between the workers."""
    with Path(os.environ[ROOM], name).open("w") as file:
        fcntl.flock(file, how)
        yield


def pytest_collection_finish() -> None:
    """Spare every later collection of garbage, and every forked child, what all tests have imported by now."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Make the place of the locks; the workers learn of it by their environment."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        folder = mkdtemp()
        os.environ[ROOM] = folder
        config.add_cleanup(lambda: rmtree(folder))
