"""Which form an observation space and which distribution an action space gets: the one place that decides."""

from math import prod
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space, Tuple

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.spaces.actions import ActionDistribution
from garrison.learn.spaces.categorical import MOST_VALUES, Categorical
from garrison.learn.spaces.composite import Composite, parts_of
from garrison.learn.spaces.gaussian import Gaussian
from garrison.learn.spaces.observations import BitsForm, IndexForm, NumbersForm, ObservationForm
from garrison.learn.spaces.squashed import Squashed

OBSERVATION_FORMS: list[type[ObservationForm]] = [BitsForm, IndexForm, NumbersForm]
ACTION_DISTRIBUTIONS: list[type[ActionDistribution]] = [Categorical, Gaussian, Squashed]
"""The first that accepts a space is taken, so special ones stand before general ones."""


def observation_form(space: Space[Any]) -> ObservationForm:
    """Return how observations of `space` are stored and given to a network."""
    for form in OBSERVATION_FORMS:
        if form.accepts(space):
            return form(space)
    raise UserError(
        f"cannot learn from {space}: observations must be Box, Discrete or MultiBinary.",
        hint="gymnasium.wrappers.FlattenObservation around each environment makes one Box of others: name a function "
        "that returns FlattenObservation(gymnasium.make(ID)) as --env module:function.",
    )


def doubts_about(space: Space[Any]) -> str | None:
    """Return a sentence about observations that can be learned from, but hardly well; None if all is well."""
    if not isinstance(space, Box) or not (np.all(space.low == 0) and np.all(space.high == 255)):
        return None
    size = f"{prod(space.shape):,} plain numbers from 0 to 255"
    if len(space.shape) == 3:
        return (
            f"the observations are images {space.shape}, and there is no network for images yet: dense layers see "
            f"{size}, which hardly learns. Make them small and scale them, or extract features."
        )
    return (
        f"the observations are {size}, which dense layers hardly learn from: scale them to 0..1, such as with "
        "gymnasium.wrappers.RescaleObservation."
    )


def action_distribution(space: Space[Any], config: PolicyConfig | None = None) -> ActionDistribution:
    """Return the distribution over the actions of `space`, for a policy with these settings."""
    config = config or PolicyConfig()
    for distribution in ACTION_DISTRIBUTIONS:
        if distribution.accepts(space, config):
            return distribution(space, config)
    if Composite.accepts(space, config):
        assert isinstance(space, Dict | Tuple)
        return Composite(space, {key: action_distribution(part, config) for key, part in parts_of(space).items()})
    raise UserError(
        f"cannot act in {space}: actions must be Discrete, MultiDiscrete, MultiBinary, Box, or a Dict or Tuple of these"
        f"{_why_not(space)}.",
        hint="gymnasium.wrappers.TransformAction around each environment gives it another action space and a function "
        "that turns such actions into its own: name what makes it as --env module:function.",
    )


def _why_not(space: Space[Any]) -> str:
    """Say what is wrong with a space of a kind that is supported."""
    if not isinstance(space, Box | Dict | Tuple):
        return ""
    if isinstance(space, Box) and space.shape and 0 not in space.shape and space.dtype.kind in "iu":
        return f"; a Box of whole numbers may have {MOST_VALUES} values an entry"
    return "; this one is empty"
