"""The compile cache: kept between processes, dropped when any file of a package or a flag changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import garrison
from garrison import jit

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="there is no machine code when NUMBA_DISABLE_JIT is set")

CALLER = """
from garrison.jit import kernel
from {package}.helper import add_some

@kernel(cached=True)
def caller(x):
    return add_some(x)
"""
HELPER = """
from garrison.jit import kernel

@kernel
def add_some(x):
    return x + {amount}
"""
SCRIPT = """
from {package}.caller import caller
print(caller(1), sum(caller.stats.cache_hits.values()), sum(caller.stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "caller.py").write_text(CALLER.format(package="toy"))
    (folder / "helper.py").write_text(HELPER.format(amount=1))
    return folder


def run(package: Path, **flags: str) -> list[int]:
    """Return the kernel's result, and how often the cache was hit and missed, in a fresh process."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package.parent), str(Path(garrison.__file__).parents[1])]),
        "GARRISON_CACHE_DIR": str(package.parent / "cache"),
        **flags,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(package=package.name)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(word) for word in done.stdout.split()]


def test_a_second_process_finds_the_machine_code(package: Path) -> None:
    assert run(package) == [2, 0, 1]
    assert run(package) == [2, 1, 0]


def test_a_changed_sibling_file_is_noticed(package: Path) -> None:
    run(package)
    (package / "helper.py").write_text(HELPER.format(amount=5))
    assert run(package) == [6, 0, 1]


def test_a_changed_flag_is_noticed_and_both_are_kept(package: Path) -> None:
    run(package, NUMBA_BOUNDSCHECK="0")
    assert run(package, NUMBA_BOUNDSCHECK="1") == [2, 0, 1]
    assert run(package, NUMBA_BOUNDSCHECK="0") == [2, 1, 0]
    assert run(package, NUMBA_BOUNDSCHECK="1") == [2, 1, 0]


def test_an_unwritable_cache_folder_costs_a_compile_and_one_line(package: Path) -> None:
    blocked = package.parent / "blocked"
    blocked.write_text("a file where the folder should be")
    assert run(package, GARRISON_CACHE_DIR=str(blocked)) == [2, 0, 1]


def test_the_stamp_covers_every_source_of_the_simulator(tmp_path: Path) -> None:
    source = Path(garrison.__file__).parent / "cage2"
    copy = tmp_path / "cage2"
    shutil.copytree(source, copy)
    before = jit.source_stamp(copy)
    assert before == jit.source_stamp(source)
    for file in sorted(copy.glob("*.py")):
        text = file.read_text()
        file.write_text(text + "\n# changed\n")
        assert jit.source_stamp(copy) != before, file.name
        file.write_text(text)
    assert jit.source_stamp(copy) == before


def test_kernels_are_tested_with_bounds_checks() -> None:
    import numpy as np

    @jit.kernel
    def reach(values, i):  # type: ignore[no-untyped-def]
        return values[i]

    with pytest.raises(IndexError):
        reach(np.zeros(2), 2)
