"""Which files a script consists of: itself and what it imports from its own folders; nothing of it is run."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from garrison.errors import UserError


@dataclass(frozen=True)
class ScriptFile:
    """One parsed file, and the folder that its absolute imports are searched in."""

    path: Path
    root: Path
    tree: ast.Module


def files_of(script: Path) -> list[ScriptFile]:
    """Return the script and everything local that it imports, directly or through others."""
    if not script.is_file():
        raise UserError(f"there is no script {script}.", hint="Name the file that you would run.")
    root = script.parent.resolve()
    found: dict[Path, ScriptFile] = {}
    waiting = [script.resolve()]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = ScriptFile(path, root, _parse(path))
            waiting += [local for node in ast.walk(found[path].tree) for local in _imported(node, path, root)]
    return list(found.values())


def absolute_name(node: ast.ImportFrom, file: ScriptFile) -> str:
    """Return the module that an import names, counted from the script's folder if it is relative."""
    if not node.level:
        return node.module or ""
    folder = file.path.parents[node.level - 1]
    try:
        package = ".".join(folder.relative_to(file.root).parts)
    except ValueError:  # above the script's folder
        return node.module or ""
    return ".".join(filter(None, [package, node.module]))


def place_of(module: str, folder: Path) -> Path | None:
    """Return the file of a module below a folder."""
    stem = folder.joinpath(*module.split("."))
    places = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
    return next((place for place in places if place.is_file()), None)


def assigned_to_self(tree: ast.AST) -> set[str]:
    """Return the names that code sets as attributes of `self`."""
    stored = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    return {node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id == "self"}


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{path} is no Python of this version: {error}.") from error


def _imported(node: ast.AST, path: Path, root: Path) -> Iterator[Path]:
    if isinstance(node, ast.Import):
        names = [(alias.name, root) for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = path.parents[node.level - 1] if node.level else root
        module = node.module or ""
        below = [f"{module}.{alias.name}".strip(".") for alias in node.names if alias.name != "*"]
        names = [(name, base) for name in [module, *below] if name]
    else:
        return
    for name, folder in names:
        if not (folder == root and name.partition(".")[0] == "CybORG"):
            if (place := place_of(name, folder)) is not None:
                yield place.resolve()
        elif (place := _own_addition(name, folder)) is not None:
            yield place.resolve()


def _own_addition(module: str, folder: Path) -> Path | None:
    """Return a module of the user's own inside a CybORG tree: one that the original does not have."""
    from garrison.cyborg.refusal import original_names

    return None if module in original_names()["modules"] else place_of(module, folder)
