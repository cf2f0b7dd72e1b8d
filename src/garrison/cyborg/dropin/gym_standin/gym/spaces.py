"""Gymnasium's spaces under the old gym's name."""

from gymnasium.spaces import *  # noqa: F403
from gymnasium.spaces import Space as Space
