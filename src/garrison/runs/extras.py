"""Optional packages: one sentence each when they are missing."""

from importlib.util import find_spec

from garrison.errors import UserError


def require_torch() -> None:
    """Raise a `UserError` if torch is not installed."""
    _require("torch", "PyTorch", "train")


def require_yaml() -> None:
    """Raise a `UserError` if PyYAML is not installed."""
    _require("yaml", "PyYAML", "train")


def require_matplotlib() -> None:
    """Raise a `UserError` if matplotlib is not installed."""
    _require("matplotlib", "Matplotlib", "report")


def _require(module: str, name: str, extra: str) -> None:
    if find_spec(module) is None:
        raise UserError(f"{name} is not installed: pip install 'garrison[{extra}]'")
