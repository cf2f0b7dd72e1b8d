"""Random generators of environments."""

from gymnasium.utils.seeding import np_random as np_random
