"""The old gym's levels; nothing is logged here, so nothing has to be silenced."""

DEBUG = 10
INFO = 20
WARN = 30
ERROR = 40
DISABLED = 50

MIN_LEVEL = 30


def set_level(level: int) -> None:
    """Set the level."""
    global MIN_LEVEL
    MIN_LEVEL = level
