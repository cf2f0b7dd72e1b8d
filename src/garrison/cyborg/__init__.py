"""A drop-in for CybORG: scripts that were written against its CAGE-2 run on this simulator, with the same numbers."""

from typing import Any


def install(**chosen: str) -> Any:
    """Let `import CybORG` find Garrison's from now on; `rules` and `api` as in `garrison cyborg run`."""
    from garrison.cyborg.on_path import install  # which needs the compiler's folders

    return install(**chosen)
