"""Run the peers' own tests of vector environments with our backends in the place of theirs: `make test-peers`.

Each suite runs once as it is, to learn what passes on this machine, and once for each backend. What passes there and
not here must stand in `differences.toml`, with the reason. The suites are fetched, never committed: that of
Stable-Baselines3 from its source distribution on PyPI, that of Gymnasium, whose distribution has next to none, from its
repository. `PEER_GYMNASIUM` and `PEER_STABLE_BASELINES3` may name folders that hold a `tests` folder instead.
"""

import fnmatch
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent
BACKENDS = ("serial", "threads", "pipes", "shared", "async")


@dataclass(frozen=True)
class Suite:
    """The tests of a peer."""

    name: str
    package: str
    files: tuple[str, ...]
    repository: str = ""
    """Where the tests are, if the source distribution has none."""

    def fetch(self, folder: Path) -> Path:
        """Return a folder with the suite's `tests` folder, for the version that is installed."""
        given = os.environ.get("PEER_" + self.package.upper().replace("-", "_"))
        if given:
            shutil.copytree(Path(given) / "tests", folder / "tests")
        elif self.repository:
            tag = f"v{version(self.package)}"
            clone = ["git", "clone", "--quiet", "--depth", "1", "--branch", tag, self.repository, str(folder / "clone")]
            subprocess.run(clone, check=True)
            shutil.move(folder / "clone" / "tests", folder / "tests")
        else:
            named = f"{self.package}=={version(self.package)}"
            options = ["--quiet", "--no-binary", ":all:", "--no-deps", "--no-build-isolation", "--dest", str(folder)]
            subprocess.run([sys.executable, "-m", "pip", "download", *options, named], check=True)
            with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
                archive.extractall(folder, filter="data")
            shutil.move(next(folder.glob("*/tests")), folder / "tests")
        return folder


SUITES = (
    Suite(
        "Gymnasium",
        "gymnasium",
        ("vector/test_*.py", "wrappers/vector/test_*.py"),
        "https://github.com/Farama-Foundation/Gymnasium",
    ),
    Suite("Stable-Baselines3", "stable-baselines3", ("test_vec_*.py",)),
)


def passed(suite: Suite, folder: Path, backend: str = "") -> set[str]:
    """Run the suite, with a backend in place if one is named; return the tests that passed."""
    files = sorted(str(path) for pattern in suite.files for path in (folder / "tests").glob(pattern))
    report = folder / f"{backend or 'own'}.xml"
    plugin = ["-p", "garrison_in_place"] if backend else []
    options = [
        "-q",
        "--continue-on-collection-errors",
        "-c",
        os.devnull,
        "--rootdir",
        str(folder),
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
    ]
    variables = {**os.environ, "PYTHONPATH": str(HERE), "GARRISON_BACKEND": backend, "SDL_VIDEODRIVER": "dummy"}
    command = [sys.executable, "-m", "pytest", *options, *plugin, *files]
    subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.DEVNULL, check=False)
    cases = ElementTree.parse(report).iter("testcase")
    return {f"{case.get('classname')}.{case.get('name')}" for case in cases if not len(case)}


def reason_of(test: str, differences: dict[str, str]) -> str | None:
    """Return why a test is expected to differ."""
    return next((reason for pattern, reason in differences.items() if fnmatch.fnmatchcase(test, pattern)), None)


def main(backends: list[str]) -> int:
    """Run all suites on the given backends, or on all; print the table and what differs unexpectedly."""
    known = tomllib.loads((HERE / "differences.toml").read_text())
    unexpected: list[str] = []
    print("| suite | backend | passes with its own | with ours | differs by design |\n|---|---|---:|---:|---:|")
    for suite in SUITES:
        with tempfile.TemporaryDirectory(prefix="garrison-peers-") as name:
            folder = suite.fetch(Path(name))
            own = passed(suite, folder)
            for backend in backends or BACKENDS:
                ours = passed(suite, folder, backend) & own
                reasons = {test: reason_of(test, known[suite.name]) for test in sorted(own - ours)}
                by_design = [test for test, reason in reasons.items() if reason]
                unexpected += [f"{suite.name}, {backend}: {test}" for test, reason in reasons.items() if not reason]
                row = (f"{suite.name} {version(suite.package)}", backend, len(own), len(ours), len(by_design))
                print(f"| {' | '.join(map(str, row))} |", flush=True)
    for line in unexpected:
        print(f"unexpected: {line}")
    return bool(unexpected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
