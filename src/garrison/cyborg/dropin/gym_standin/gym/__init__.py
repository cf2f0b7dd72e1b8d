"""A stand-in for the old gym, for scripts that only need its `Env` and its spaces; used where gym is not installed.

The spaces are Gymnasium's. `Env` and the wrappers are not: with the old gym `reset` returns the observation alone and
`step` four values, and code that knows both libraries tells them apart by the class.
"""

from typing import Any

from gym import error as error
from gym import logger as logger
from gym import spaces as spaces
from gym import utils as utils
from gym.core import ActionWrapper as ActionWrapper
from gym.core import Env as Env
from gym.core import ObservationWrapper as ObservationWrapper
from gym.core import RewardWrapper as RewardWrapper
from gym.core import Wrapper as Wrapper
from gym.spaces import Space as Space

__version__ = "0.21.0"
"""The last version with the interface that this stands for."""


def make(id: str, **kwargs: Any) -> Any:
    """Refuse: there are no environments here."""
    raise error.Error(f"gym is not installed, and Garrison's stand-in for it makes no environments: {id}")


def __getattr__(name: str) -> Any:
    raise AttributeError(f"Garrison's stand-in for gym has no {name!r}: install gym to run this script", name=name)
