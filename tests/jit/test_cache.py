"""The compile cache: kept between processes, dropped when a source of a kernel or a flag changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import garrison
from garrison import jit
from garrison.jit.stamp import _read, source_stamp

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not jit.COMPILED, reason="there is no machine code when NUMBA_DISABLE_JIT is set"),
]

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


def test_a_changed_file_of_another_package_is_noticed(package: Path) -> None:
    """Also one that is imported by what is imported, as a constant of a callee is."""
    other = package / "other"
    other.mkdir()
    (other / "__init__.py").touch()
    (other / "amounts.py").write_text("AMOUNT = 1")
    (other / "helper.py").write_text(
        "from toy.other import (\n    amounts,\n)\nAMOUNT = amounts.AMOUNT\n" + HELPER.format(amount="AMOUNT")
    )
    (package / "helper.py").unlink()
    (package / "caller.py").write_text(CALLER.format(package="toy.other"))
    assert run(package) == [2, 0, 1]
    assert run(package) == [2, 1, 0]
    (other / "amounts.py").write_text("AMOUNT = 5")
    assert run(package) == [6, 0, 1]


def stamps_that_change(tmp_path: Path, module: str, folder: str) -> dict[str, bool]:
    """Return of each source in `folder` of a copy of Garrison whether a change of it changes the stamp of `module`."""
    copy = tmp_path / "garrison"
    shutil.copytree(Path(garrison.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")

    def stamp() -> str:
        source_stamp.cache_clear()
        _read.cache_clear()
        return source_stamp(module, file)

    before, changed = stamp(), {}
    for source in sorted((copy / folder).glob("*.py")):
        text = source.read_text()
        source.write_text(text + "\n# changed\n")
        changed[source.name] = stamp() != before
        source.write_text(text)
    assert stamp() == before
    return changed


def test_the_stamp_covers_every_source_of_the_simulator(tmp_path: Path) -> None:
    changed = stamps_that_change(tmp_path, "garrison.cage2.step", "cage2")
    assert len(changed) > 10
    assert all(changed.values()), changed


def test_the_stamp_covers_the_kernels_of_another_package_and_no_others(tmp_path: Path) -> None:
    """The bench of matrix products compiles kernels of the network into its own."""
    changed = stamps_that_change(tmp_path, "garrison.bench.suites.matrix_products", "learn/nn")
    assert changed["blas.py"]
    assert changed["layers.py"]
    assert changed["arithmetic.py"]  # imported by layers
    assert not changed["adam.py"]


def test_kernels_are_tested_with_bounds_checks() -> None:
    import numpy as np

    @jit.kernel
    def reach(values, i):  # type: ignore[no-untyped-def]
        return values[i]

    with pytest.raises(IndexError):
        reach(np.zeros(2), 2)
