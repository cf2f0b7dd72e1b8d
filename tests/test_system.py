"""What is said about packages that are not installed: every command ends in a sentence whose advice works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from garrison import system

WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] == sys.argv[1] else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
from garrison import cli
for line in sys.argv[2:]:
    try:
        print(cli.main(line.split()), flush=True)
    except SystemExit as end:
        print(end.code, flush=True)
"""
COMMANDS = {
    "torch": [
        "train ppo-cartpole --steps 8",
        "train record --steps 8",
        "workflow train all",
        "workflow train 0 --episodes 8",
        "workflow search",
        "race ppo-cartpole --duration 1s --out OUT",
        "sweep ppo-cartpole --seeds 2 --out OUT",
        "evaluate record --episodes 2 --length 5",
        "bench train --quick --out OUT",
    ],
    "yaml": ["train ppo-cartpole --steps 8", "workflow train all", "workflow search", "train FILE.yaml"],
    "matplotlib": ["plot runs/none", "bench users --part cage2 --quick --out OUT"],
    "sklearn": ["workflow search --method gp --out OUT"],
    "ray": ["train impala-cartpole --cluster local --steps 8 --out OUT", "bench cluster --quick --out OUT"],
    "optuna": ["sweep ppo-cartpole --search optuna --space ppo.epochs=1,2 --out OUT"],
    "stable_baselines3": ["profile no-such-env", "bench learning"],
}


@pytest.mark.long
@pytest.mark.parametrize("module", COMMANDS)
def test_every_command_says_what_is_missing_in_a_sentence(module: str, tmp_path: Path) -> None:
    (tmp_path / "FILE.yaml").write_text("env: {envs: 2}")
    lines = [line.replace("OUT", str(tmp_path / "out")) for line in COMMANDS[module]]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, module, *lines], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    said = done.stderr.count("is not installed: pip install ")
    assert said >= 1, done.stderr


def test_the_advice_installs_from_the_clone_until_there_is_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    package = clone / "src" / "garrison"
    package.mkdir(parents=True)
    monkeypatch.setattr(system, "SOURCES", package)
    assert system.install("train") == "pip install 'garrison[train]'"  # not a clone: nothing better is known
    (clone / "pyproject.toml").touch()
    assert system.install("train") == f"pip install -e '{clone}[train]'"
    monkeypatch.chdir(clone)
    assert system.install("train,ray") == "pip install -e '.[train,ray]'"
    monkeypatch.setattr(system, "IS_PUBLISHED", True)
    assert system.install("train") == "pip install 'garrison[train]'"


def test_nothing_else_names_a_distribution() -> None:
    package = Path(system.__file__).parent
    found = [file.name for file in package.rglob("*.py") if "'garrison[" in file.read_text()]
    assert found == ["system.py"]


def test_where_processes_cannot_be_bound_to_cores_python_says_how_many_are_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for told, cores in (("3", 3), ("0", 8), ("x", 8)):
        monkeypatch.setenv("PYTHON_CPU_COUNT", told)
        assert system.cores() == cores
