"""The parts of the old gym's utilities that environments use."""

from gym.utils import seeding as seeding
