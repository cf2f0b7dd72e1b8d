"""The wheel and the source archive, built from what git knows and installed where the clone cannot be seen.

`python -m tests.helpers.packages FOLDER` builds both into FOLDER and tries each, as `make package` does.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tracked(folder: str = ".") -> list[str]:
    """Return the files of the clone that belong to it, below a folder."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(name for name in names if name and (ROOT / name).is_file())


def build_sdist(folder: Path) -> Path:
    """Build the source archive into `folder`, from a copy, so that nothing is left in the clone."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        for name in tracked():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        return folder / _backend("build_sdist", copy, folder)


def build_wheel(sdist: Path, folder: Path) -> Path:
    """Build the wheel into `folder` from the source archive, so that a file which that lacks is missed."""
    with tempfile.TemporaryDirectory() as temporary:
        with tarfile.open(sdist) as archive:
            archive.extractall(temporary, filter="data")
        (source,) = Path(temporary).iterdir()
        return folder / _backend("build_wheel", source, folder)


def install(package: Path, folder: Path) -> Path:
    """Install a package in an environment of its own, with this one's packages beside it; return its programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    # Only the packages of this environment, not what its own .pth files point at: the clone.
    # Before the installation: a source archive is built with the setuptools among them.
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(package)], check=True
    )
    return folder / "bin"


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a program in `folder` without anything that would lead it to the clone; return what it printed."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=clean | variables,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    ).stdout


def _backend(hook: str, source: Path, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    script = f"from setuptools import build_meta; print(build_meta.{hook}({str(folder.resolve())!r}))"
    out = subprocess.run([sys.executable, "-c", script], cwd=source, check=True, capture_output=True, text=True).stdout
    return out.splitlines()[-1]


def main() -> None:
    """Build both, and play in an environment for each."""
    folder = Path(sys.argv[1])
    sdist = build_sdist(folder)
    wheel = build_wheel(sdist, folder)
    for package in (wheel, sdist):
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            programs = install(package, place / "env")
            for words in (["doctor"], ["demo", "--episodes", "1000"], ["evaluate", "record", "--episodes", "100"]):
                print(run(programs / "garrison", *words, folder=place))
        print(f"{package}: installed and played\n")


if __name__ == "__main__":
    main()
