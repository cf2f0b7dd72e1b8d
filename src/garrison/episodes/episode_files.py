"""Episodes in files: `.json`, `.json.gz`, and read back from a page too."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from garrison.episodes.episode import FORMAT, Episode
from garrison.errors import UserError
from garrison.storage.atomic import write_bytes

SUFFIXES = (".json", ".json.gz")
PAGE = ".html"
LARGEST = 2**30
"""Bytes of a file after unpacking: more is no recording of episodes"""
_SCRIPT = '<script type="application/json"'


def is_recording(path: str | Path) -> bool:
    """Return whether a path names a file of recorded episodes, by its name."""
    return str(path).endswith((*SUFFIXES, PAGE))


def json_text(value: Any) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def write_json_file(path: Path, value: Any) -> Path:
    """Write a value as JSON, packed if the name ends in .gz; the same value gives the same bytes."""
    if not str(path).endswith(SUFFIXES):
        raise UserError(f"episodes are written as {' or '.join(SUFFIXES)}; got {path}.")
    text = json_text(value).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, [gzip.compress(text, mtime=0) if path.suffix == ".gz" else text])
    return path


def read_data(path: str | Path) -> dict[str, Any]:
    """Return what a file holds as a page's data: `title`, `episodes` as JSON objects that were checked, and `pair`.

    Raises:
        UserError: a sentence that says why the file cannot be used.
    """
    path = Path(path)
    try:
        value = json.loads(_text(path), parse_constant=_refuse)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from error
    except (EOFError, zlib.error, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UserError(
            f"{path} is no recording of episodes: it is damaged, cut short, or something else "
            f"({type(error).__name__}: {str(error)[:80]})."
        ) from error
    try:
        return _data(value)
    except UserError as error:
        raise UserError(f"{path}: {error.summary}", hint=error.hint) from error


def read_episodes(path: str | Path) -> list[Episode]:
    """Return the episodes of a `.json` or `.json.gz` file, or of a page that `garrison watch` wrote."""
    return [Episode.of(values) for values in read_data(path)["episodes"]]


def _data(value: Any) -> dict[str, Any]:
    if isinstance(value, dict) and value.get("format") == FORMAT:
        episode = Episode.of(value)
        return {"title": episode.title, "episodes": [episode.to_dict()], "pair": None}
    episodes = value.get("episodes") if isinstance(value, dict) else None
    if not isinstance(episodes, list) or not episodes:
        raise UserError("this holds no episodes.", hint="garrison watch AGENT --out FILE.json writes a file that does.")
    title, pair = value.get("title"), value.get("pair")
    is_step = isinstance(pair, dict) and isinstance(pair.get("first_difference"), int | None)
    return {
        "title": title if isinstance(title, str) else "",
        "episodes": [Episode.of(each).to_dict() for each in episodes],
        "pair": {"first_difference": pair["first_difference"]} if is_step and len(episodes) > 1 else None,
    }


def _text(path: Path) -> str:
    if path.suffix == ".gz":
        with gzip.open(path) as file:
            data = file.read(LARGEST + 1)
    else:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError("it is larger than any recording")
    text = data.decode()
    if path.suffix != PAGE:
        return text
    start = text.find(_SCRIPT)
    begin, end = text.find(">", start) + 1, text.find("</script>", start)
    if start < 0 or begin <= 0 or end < 0:
        raise ValueError("the page holds no data")
    return text[begin:end]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")
