"""What is given away: wheel and source archive, their version, the oldest dependencies, and the files beside them."""

import json
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import garrison
from tests.helpers import packages
from tests.helpers.packages import ROOT, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOWEST_EXTRAS = ("train", "report", "sb3", "workflow", "cyborg")
"""Those whose oldest versions are tried."""
TOOLS = ("pytest", "pytest-xdist", "hypothesis")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packages.build_sdist(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    return packages.build_wheel(sdist, sdist.parent)


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {name.removeprefix("src/") for name in tracked("src")}
    assert {"garrison/py.typed", "garrison/__init__.pyi", "garrison/agents/shipped/record.garrison"} <= held


def test_the_source_archive_has_what_the_wheel_is_built_from(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert set(tracked("src")) | {"pyproject.toml", "README.md", "LICENSE"} <= held


def test_the_installed_package_plays_outside_the_clone(wheel: Path, tmp_path: Path) -> None:
    """With its kernels as plain Python: compiled code belongs to a place, and this one is new every time."""
    programs = packages.install(wheel, tmp_path / "env")
    found = "import garrison; print(garrison.__version__, garrison.__file__)"
    version, place = packages.run(programs / "python", "-c", found, folder=tmp_path).split()
    assert version == garrison.__version__
    assert Path(place).is_relative_to(tmp_path)
    plain = {"NUMBA_DISABLE_JIT": "1"}
    small = ["--episodes", "2", "--length", "30"]
    scored = packages.run(
        programs / "garrison", "evaluate", "record", *small, "--red", "bline", folder=tmp_path, **plain
    )
    assert "record, rules leaderboard" in scored
    played = packages.run(programs / "garrison", "demo", "--episodes", "2", "--length", "10", folder=tmp_path, **plain)
    assert "meander" in played
    packages.run(programs / "garrison", "watch", "record", "--out", "page.html", folder=tmp_path, **plain)
    assert "<script" in (tmp_path / "page.html").read_text()


def test_the_version_is_said_the_same_everywhere(wheel: Path) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(citation["version"]) == garrison.__version__
    assert citation["license"] == PROJECT["license"]
    assert wheel.name.startswith(f"garrison-{garrison.__version__}-")


def bounds(requirements: list[str]) -> dict[str, str]:
    found = (re.match(r"([\w.-]+)>=([\d.]+)", requirement) for requirement in requirements)
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match}


def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    allowed = bounds(PROJECT["dependencies"])
    for extra in LOWEST_EXTRAS:
        allowed |= bounds(EXTRAS[extra])
    allowed |= {name: bound for name, bound in bounds(EXTRAS["dev"]).items() if name in TOOLS}
    lines = (ROOT / "requirements" / "lowest.txt").read_text().splitlines()
    tried = dict(line.lower().replace("_", "-").split("==") for line in lines if not line.startswith("#"))
    assert tried.keys() == allowed.keys()
    for name, version in tried.items():
        assert re.fullmatch(rf"{re.escape(allowed[name])}(\.0)*", version), name


def test_all_has_every_extra_for_users() -> None:
    (everything,) = EXTRAS["all"]
    assert set(re.findall(r"\w+", everything)[1:]) == EXTRAS.keys() - {"all", "dev", "docs", "notebook"}


def test_what_containers_install_exists() -> None:
    text = (ROOT / "Dockerfile").read_text()
    (named,) = re.findall(r"'\.\[([\w,]+)\]'", text)
    assert set(named.split(",")) <= EXTRAS.keys()
    assert "USER garrison" in text
    assert json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["postCreateCommand"] == "make install"


def test_the_hooks_before_a_commit_are_the_checks() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = {Path(hook["entry"].split()[0]).name for repo in config["repos"] for hook in repo["hooks"]}
    recipe = re.search(r"^check: install\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), flags=re.M)
    assert recipe is not None
    assert hooks == set(re.findall(r"\$\(BIN\)/(\S+)", recipe[1]))
    assert all(repo["repo"] == "local" for repo in config["repos"])
