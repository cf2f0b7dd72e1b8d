"""A drop-in for CybORG: scripts that were written against its CAGE-2 run on this simulator, with the same numbers."""

from typing import Any


def install(**chosen: str) -> Any:
    """Let `import CybORG` find Garrison's from now on; `rules` and `api` as in `garrison cyborg run`."""
    from garrison.cyborg.on_path import install  # which needs the compiler's folders

    return install(**chosen)


def __getattr__(name: str) -> Any:
    """Return the class `CybORG`, for scripts that change one import: all of the package is Garrison's from then on."""
    if name != "CybORG":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    from garrison.cyborg.on_path import is_installed
    from garrison.cyborg.script_settings import chosen_api, chosen_rules

    if not is_installed():
        install(rules=chosen_rules(), api=chosen_api())
    from CybORG import CybORG

    return CybORG
