"""What mypy says of scripts, as the documentation writes them."""

from pathlib import Path


def type_errors(script: str, folder: Path) -> list[str]:
    """Return what mypy, strict, says of a script, which is put into `folder`: lines `FILE:LINE: error: ...`.

    With the options and the cache of `make check`: without them it reads all types anew, for half a minute.
    """
    from mypy import api

    path = folder / "script.py"
    path.write_text(script)
    root = Path(__file__).parents[2]
    options = ["--config-file", str(root / "pyproject.toml"), "--cache-dir", str(root / ".mypy_cache")]
    out, err, _ = api.run([*options, "--no-error-summary", str(path)])
    assert not err, err
    return [line for line in out.splitlines() if Path(line.partition(":")[0]).name == path.name]
