"""What makes an environment of gym one of Gymnasium."""

from typing import Any


def GymV21CompatibilityV0(env: Any) -> Any:
    """Return the environment."""
    return env
