"""The peers' suites: where their tests are, and a run of them, as they are or with a backend of ours in place."""

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent
SUITE_SECONDS = 1200
"""How long one run of a suite may take; a single test has `garrison_in_place.TEST_SECONDS`."""


@dataclass(frozen=True)
class Suite:
    """The tests of a peer."""

    name: str
    package: str
    files: tuple[str, ...]
    needs: tuple[str, ...]
    """What only its tests import: installed beside them, never into the environment."""
    repository: str = ""
    """Where the tests are, if the source distribution has none."""

    @property
    def version(self) -> str:
        """The version that is installed, whose tests are run."""
        return version(self.package)

    @property
    def variable(self) -> str:
        """The environment variable that may name a folder with the suite's `tests` folder."""
        return "PEER_" + self.package.upper().replace("-", "_")

    def fetch(self, folder: Path) -> None:
        """Put the suite's `tests` folder, and what it needs, into `folder`; say in one sentence what cannot be had."""
        given = os.environ.get(self.variable)
        if given:
            shutil.copytree(Path(given) / "tests", folder / "tests")
        elif self.repository:
            clone = ["git", "clone", "--quiet", "--depth", "1", "--branch", f"v{self.version}", self.repository]
            self._run([*clone, str(folder / "clone")], self.repository)
            shutil.move(folder / "clone" / "tests", folder / "tests")
        else:
            options = ["--no-binary", ":all:", "--no-deps", "--no-build-isolation", "--dest", str(folder)]
            self._run([*PIP, "download", *options, f"{self.package}=={self.version}"], "the package index")
            with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
                archive.extractall(folder, filter="data")
            shutil.move(next(folder.glob("*/tests")), folder / "tests")
        options = ["--no-deps", "--target", str(folder / "needs")]
        self._run([*PIP, "install", *options, *self.needs], "the package index")

    def passed(self, folder: Path, backend: str = "") -> set[str]:
        """Run the suite that lies in `folder`, with a backend in place if one is named; return what passed."""
        files = sorted(str(path) for pattern in self.files for path in (folder / "tests").glob(pattern))
        report = folder / f"{backend or 'own'}.xml"
        options = ["-q", "--continue-on-collection-errors", "-c", os.devnull, "--rootdir", str(folder)]
        options += ["-p", "no:cacheprovider", "-p", "garrison_in_place", f"--junitxml={report}"]
        paths = os.pathsep.join((str(HERE), str(folder / "needs")))
        variables = {**os.environ, "PYTHONPATH": paths, "GARRISON_BACKEND": backend}
        variables |= {"SDL_VIDEODRIVER": "dummy", "OMP_NUM_THREADS": "1"}  # no screen; no math threads beside workers
        command = [sys.executable, "-m", "pytest", *options, *files]
        with (folder / f"{backend or 'own'}.log").open("w") as log:
            try:
                subprocess.run(command, cwd=folder, env=variables, stdout=log, timeout=SUITE_SECONDS, check=False)
            except subprocess.TimeoutExpired:
                sys.exit(f"{self.name} on {backend or 'its own'} did not end within {SUITE_SECONDS} s")
        cases = ElementTree.parse(report).iter("testcase")
        return {f"{case.get('classname')}.{case.get('name')}" for case in cases if not len(case)}

    def _run(self, command: list[str], source: str) -> None:
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            sys.exit(
                f"The tests of {self.name} {self.version} could not be fetched from {source}: "
                f"set {self.variable} to a folder that holds its `tests`, or try again with a network."
            )


PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
SUITES = (
    Suite(
        "Gymnasium",
        "gymnasium",
        ("vector/test_*.py", "wrappers/vector/test_*.py"),
        ("pygame-ce", "opencv-python-headless", "array-api-compat"),
        "https://github.com/Farama-Foundation/Gymnasium",
    ),
    Suite("Stable-Baselines3", "stable-baselines3", ("test_vec_*.py",), ("pandas", "python-dateutil", "six")),
)
