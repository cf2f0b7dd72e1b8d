"""Which form an observation space and which distribution an action space gets: the one place that decides."""

from typing import Any

from gymnasium.spaces import Space

from garrison.errors import UserError
from garrison.learn.spaces.actions import ActionDistribution, Categorical
from garrison.learn.spaces.observations import BitsForm, IndexForm, NumbersForm, ObservationForm

OBSERVATION_FORMS: list[type[ObservationForm]] = [BitsForm, IndexForm, NumbersForm]
ACTION_DISTRIBUTIONS: list[type[ActionDistribution]] = [Categorical]
"""The first that accepts a space is taken, so special ones stand before general ones."""


def observation_form(space: Space[Any]) -> ObservationForm:
    """Return how observations of `space` are stored and given to a network."""
    for form in OBSERVATION_FORMS:
        if form.accepts(space):
            return form(space)
    raise UserError(
        f"cannot learn from {space}: observations must be Box, Discrete or MultiBinary; "
        "gymnasium.wrappers.vector.FlattenObservation turns others into a Box."
    )


def action_distribution(space: Space[Any]) -> ActionDistribution:
    """Return the distribution over the actions of `space`."""
    for distribution in ACTION_DISTRIBUTIONS:
        if distribution.accepts(space):
            return distribution(space)
    raise UserError(f"cannot act in {space}: actions must be Discrete or MultiDiscrete.")
