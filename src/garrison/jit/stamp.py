"""What the machine code of a kernel depends on, as one hash: sources, versions and flags.

The sources are the kernel's package and every module that the kernel's imports, directly or through others: a callee
of another package is compiled into the kernel like one of its own.
"""

import hashlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numba
from numba.core import config

# A parser would take a hundred times as long, at every start.
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)
_NAME = re.compile(r"[\w.]+")


@cache
def source_stamp(module: str, file: Path) -> str:
    """Hash everything that the machine code of a kernel in `module`, whose source is `file`, depends on."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {config.BOUNDSCHECK} {config.OPT}".encode())
    for source in sorted({*file.parent.glob("*.py"), *Path(__file__).parent.glob("*.py"), *_reach(module, file)}):
        digest.update(source.name.encode() + b"\0" + _read(source)[1])
    return digest.hexdigest()


def _reach(module: str, file: Path) -> set[Path]:
    """Return the sources that the kernel's module imports from its own top package or from Garrison."""
    depth = module.count(".") + (file.name == "__init__.py")
    homes = {"garrison": Path(__file__).parents[2], module.partition(".")[0]: file.parents[depth]}
    todo, found = [file], {file}
    while todo:
        for name in _read(todo.pop())[0]:
            top, *_ = parts = name.split(".")
            if top in homes:
                place = homes[top].joinpath(*parts)
                new = {path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()} - found
                found |= new
                todo += new
    return found


@cache  # every file is read once a process
def _read(source: Path) -> tuple[tuple[str, ...], bytes]:
    """Return the names of the modules that a file may import, and a hash of its text."""
    text = source.read_bytes()
    return tuple(_imported(text.decode())), hashlib.sha256(text).digest()


def _imported(text: str) -> Iterator[str]:
    for module, names, modules in _IMPORT.findall(text):
        if module:
            yield module
            for name in _NAME.findall(names):  # each may be a module of that package
                yield f"{module}.{name}"
        else:
            yield from _NAME.findall(modules)
