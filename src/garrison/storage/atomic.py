"""Files that are either the old or the new version, whole, whatever happens while they are written."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


def write_bytes(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file beside `path`, force it to the disk, then put it in the place of `path`.

    On an error the old file stays and the new one is removed; an OSError names `path`, also one of a full disk.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with open(partial, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException as error:
        if isinstance(error, OSError):
            error.filename = str(path)
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8."""
    write_bytes(path, [text.encode()])


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON."""
    write_bytes(path, [json.dumps(value, indent=2).encode() + b"\n"])


def _sync_folder(folder: Path) -> None:
    # The new name itself reaches the disk with its folder; not every system can do this.
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
