"""Which form an observation space and which distribution an action space gets: the one place that decides."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space, Tuple

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.spaces.actions import ActionDistribution
from garrison.learn.spaces.categorical import MOST_VALUES, Categorical
from garrison.learn.spaces.composite_actions import Composite, parts_of
from garrison.learn.spaces.composite_observations import CompositeForm
from garrison.learn.spaces.gaussian import Gaussian
from garrison.learn.spaces.images import ImageForm
from garrison.learn.spaces.observations import BitsForm, IndexForm, NumbersForm, ObservationForm
from garrison.learn.spaces.squashed import Squashed

OBSERVATION_FORMS: list[type[ObservationForm]] = [BitsForm, IndexForm, ImageForm, NumbersForm, CompositeForm]
ACTION_DISTRIBUTIONS: list[type[ActionDistribution]] = [Categorical, Gaussian, Squashed]
"""The first that accepts a space is taken, so special ones stand before general ones."""


def observation_form(space: Space[Any]) -> ObservationForm:
    """Return how observations of `space` are stored and given to a network."""
    for form in OBSERVATION_FORMS:
        if form.accepts(space):
            return form(space)
    raise UserError(
        f"cannot learn from {space}: observations must be Box, Discrete, MultiDiscrete, MultiBinary, or Dict and Tuple "
        "of these.",
        hint="gymnasium.wrappers.TransformObservation around each environment makes one of these of others: name a "
        "function that returns the wrapped environment as --env module:function.",
    )


def doubts_about(space: Space[Any], config: PolicyConfig) -> str | None:
    """Return a sentence about observations that can be learned from, but hardly well; None if all is well."""
    form = observation_form(space)
    if config.encoder == "mlp" and any(leaf.encoder != "mlp" for leaf in form.leaves):
        return f"the encoder 'mlp' reads images as {form.size:,} plain numbers, which hardly learns; use 'auto'."
    if not config.normalise_observations and any(_is_bytes(leaf.space) for leaf in form.leaves if leaf.is_measured):
        return (
            "the observations have plain numbers from 0 to 255, which dense layers hardly learn from: set "
            "normalise_observations, or scale them with gymnasium.wrappers.RescaleObservation."
        )
    return None


def _is_bytes(space: Space[Any]) -> bool:
    return isinstance(space, Box) and bool(np.all(space.low == 0) and np.all(space.high == 255))


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
