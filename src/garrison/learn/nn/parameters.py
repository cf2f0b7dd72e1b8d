"""Where each parameter of a policy lies in its flat vector. Needs no torch, so an agent can play without it.

The order is part of the checkpoints' format: the free outputs, if there are any, the actor's layers, the critic's
(unless they share), the head of the actions, the head of the value; of each layer its weights, (outputs, inputs), and
then its biases.
"""

from collections.abc import Iterable
from itertools import pairwise
from math import prod
from typing import NamedTuple

Shape = tuple[int, ...]

FREE_OUTPUTS = "free_outputs"
"""The parameter with the outputs that do not depend on the observation."""


class Place(NamedTuple):
    """A parameter's part of the flat vector."""

    begin: int
    end: int
    shape: Shape


def find_places(shapes: Iterable[tuple[str, Shape]]) -> dict[str, Place]:
    """Return the place of each parameter, given their names and shapes in order."""
    places: dict[str, Place] = {}
    end = 0
    for name, shape in shapes:
        begin, end = end, end + prod(shape)
        places[name] = Place(begin, end, shape)
    return places


def mlp_shapes(
    inputs: int, hidden: Iterable[int], outputs: int, shared: bool, free: int = 0, extras: int = 0
) -> list[tuple[str, Shape]]:
    """Return names and shapes of the parameters of a feed-forward policy of dense layers.

    `free` of the outputs do not depend on the observation; the critic has `extras` inputs more than the actor.
    """
    towers = {"actor": (inputs, *hidden), "critic": (inputs + extras, *hidden)}
    layers = [
        (layer_name(tower, number), a, b)
        for tower in (("actor",) if shared else ("actor", "critic"))
        for number, (a, b) in enumerate(pairwise(towers[tower]))
    ]
    layers += [("action_head", towers["actor"][-1], outputs - free), ("value_head", towers["critic"][-1], 1)]
    shapes: list[tuple[str, Shape]] = [(FREE_OUTPUTS, (free,))] if free else []
    for name, a, b in layers:
        shapes += [(f"{name}.weight", (b, a)), (f"{name}.bias", (b,))]
    return shapes


def layer_name(tower: str, number: int) -> str:
    """Return the name of a hidden layer."""
    return f"{tower}.layers.{number}"
