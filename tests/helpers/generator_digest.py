"""A short form of the state of Python's generator, as tests/golden/generator_states.json has it."""

import json
import random
import zlib
from pathlib import Path
from typing import Any

RECORDED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "generator_states.json").read_text()
)
"""Episodes of the unmodified CybORG: `states` is the digest after each reset and step; see the README there"""
IDS = [f"{e['rules']}-{e['red']}-{e['seed']}" for e in RECORDED]
SECOND_RESET = 50
"""The episodes are reset once more after this many steps."""


def digest_of(words: list[int], position: int) -> str:
    """Return the checksum of a generator's state."""
    return format(zlib.crc32(b"".join(w.to_bytes(4, "little") for w in [*words, position])), "08x")


def python_digest() -> str:
    """Return the checksum of the state of Python's generator."""
    *words, position = random.getstate()[1]
    return digest_of(words, position)
