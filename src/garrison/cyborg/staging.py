"""A copy of the drop-in's folder where scripts may write: they keep results in `CybORG/Evaluation`."""

import hashlib
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from garrison.jit import cache_folder

SOURCE = Path(__file__).with_name("dropin")


def source_files(source: Path = SOURCE) -> list[Path]:
    """Return the files of the drop-in, relative to its folder."""
    files = (file.relative_to(source) for file in source.rglob("*") if file.is_file())
    return sorted(file for file in files if "__pycache__" not in file.parts)


def staged(source: Path = SOURCE) -> Path:
    """Return the folder in the user's cache that has all files of the drop-in; each version has its own.

    Several processes may do this at once: every file appears whole, and whoever returns has seen all of them.
    """
    contents = {file: (source / file).read_bytes() for file in source_files(source)}
    digest = hashlib.sha256()
    for file, content in contents.items():
        digest.update(f"{file.as_posix()}\0{len(content)}\0".encode() + content)
    folder = cache_folder() / f"cyborg-{digest.hexdigest()[:16]}"
    for file, content in contents.items():
        _put(folder / file, content)
    return folder


def evaluation_folder(folder: Path) -> Path:
    """Return where scripts write their results."""
    return folder / "CybORG" / "Evaluation"


def _put(path: Path, content: bytes) -> None:
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    # Written beside the folder, not in it: whoever lists the folder sees whole files only.
    with NamedTemporaryFile(dir=cache_folder(), prefix="cyborg-partial-", delete=False) as partial:
        partial.write(content)
    os.replace(partial.name, path)
