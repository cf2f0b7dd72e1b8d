"""Actions in several parts: Dict and Tuple spaces, nested as deep as one likes. The parts are drawn independently."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.nn.sampling import Streams
from garrison.learn.spaces.actions import ActionDistribution, Array, Flags, Floats

if TYPE_CHECKING:
    from torch import Tensor

NO_MASKS = np.ones((0, 0), np.bool_)


class Part(NamedTuple):
    """One part, and where its share lies."""

    key: Any
    """In the Dict or Tuple."""
    actions: ActionDistribution
    outputs: slice
    """Among the outputs that depend on the observation, which come first."""
    free: slice
    """Among the free outputs."""
    masks: slice
    """Among the flags of a mask."""
    stored: slice
    """Among the bytes of a choice."""


class Composite(ActionDistribution):
    """A Dict or Tuple of spaces that have distributions: log-probabilities and entropies are sums over the parts.

    A choice is the bytes of the parts' choices, one part after the other, because a rollout keeps one array.
    """

    def __init__(self, space: "spaces.Dict | spaces.Tuple[Any]", parts: Mapping[Any, ActionDistribution]) -> None:
        self.space = space
        self.parts = list(_lay_out(parts))
        last = self.parts[-1]
        self.free_outputs = last.free.stop
        self.outputs = last.outputs.stop + self.free_outputs
        self.mask_size = last.masks.stop
        self.shape, self.dtype = (last.stored.stop,), np.dtype(np.uint8)

    @classmethod
    def accepts(cls, space: spaces.Space[Any], config: Any) -> bool:
        """Return whether the space is a Dict or a Tuple that is not empty."""
        return isinstance(space, spaces.Dict | spaces.Tuple) and len(space.spaces) > 0

    def initial_free_outputs(self) -> Floats:
        """Return those of the parts."""
        return np.concatenate([part.actions.initial_free_outputs() for part in self.parts])

    def draw(self, outputs: Floats, masks: Flags, streams: Streams, choices: Array, log_probs: Floats) -> None:
        """Draw part after part from the same streams."""
        log_probs[:] = 0.0
        for part, own_outputs, own_masks, own_choices, own_log_probs in self._split(outputs, masks, len(choices)):
            part.actions.draw(own_outputs, own_masks, streams, own_choices, own_log_probs)
            choices[:, part.stored] = _as_bytes(own_choices)
            log_probs += own_log_probs

    def mode(self, outputs: Floats, masks: Flags, choices: Array) -> None:
        """Write the likeliest choice of each part."""
        for part, own_outputs, own_masks, own_choices, _ in self._split(outputs, masks, len(choices)):
            part.actions.mode(own_outputs, own_masks, own_choices)
            choices[:, part.stored] = _as_bytes(own_choices)

    def assess(self, outputs: Floats, masks: Flags, choices: Array, log_probs: Floats) -> None:
        """Add the parts' log-probabilities."""
        log_probs[:] = 0.0
        for part, own_outputs, own_masks, _, own_log_probs in self._split(outputs, masks, len(choices)):
            part.actions.assess(own_outputs, own_masks, self._choices(part, choices), own_log_probs)
            log_probs += own_log_probs

    def evaluate(self, outputs: "Tensor", choices: "Tensor", masks: "Tensor | None") -> "tuple[Tensor, Tensor]":
        """Return the sums of the parts' log-probabilities and entropies."""
        import torch

        heads, free = outputs[:, : self.outputs - self.free_outputs], outputs[:, self.outputs - self.free_outputs :]
        log_probs, entropies = outputs.new_zeros(len(outputs)), outputs.new_zeros(len(outputs))
        for part in self.parts:
            dtype = torch.from_numpy(np.empty(0, part.actions.dtype)).dtype
            stored = choices[:, part.stored].clone(memory_format=torch.contiguous_format).view(dtype)
            own_masks = None if masks is None or not part.actions.mask_size else masks[:, part.masks]
            own_outputs = torch.cat((heads[:, part.outputs], free[:, part.free]), dim=1)
            more = part.actions.evaluate(own_outputs, stored.view(len(choices), *part.actions.shape), own_masks)
            log_probs, entropies = log_probs + more[0], entropies + more[1]
        return log_probs, entropies

    def to_env(self, choices: Array) -> Any:
        """Return a batch of actions as Gymnasium has it: a dict or a tuple of batches."""
        batches = {part.key: part.actions.to_env(self._choices(part, choices)) for part in self.parts}
        return batches if isinstance(self.space, spaces.Dict) else tuple(batches.values())

    def flat_masks(self, masks: Any, num_envs: int) -> Flags:
        """Return masks as one row each; they may come as a mapping or a tuple of the parts' masks.

        A part that has none, or None, may do everything.
        """
        given: Mapping[Any, Any]
        if isinstance(masks, Mapping) and isinstance(self.space, spaces.Dict):
            given = masks
        elif isinstance(masks, np.ndarray) and masks.dtype == np.object_:  # of tuples: what infos make of them
            given = dict(enumerate(zip(*masks, strict=True)))
        elif isinstance(masks, tuple | list) and isinstance(self.space, spaces.Tuple):
            given = dict(enumerate(masks))
        else:
            return super().flat_masks(masks, num_envs)
        maskable = {part.key: part for part in self.parts if part.actions.mask_size}
        flat = np.ones((num_envs, self.mask_size), np.bool_)
        for key, part in maskable.items():
            if given.get(key) is not None:
                flat[:, part.masks] = part.actions.flat_masks(given[key], num_envs)
        unknown = [key for key in given if key not in {part.key for part in self.parts} and str(key)[:1] != "_"]
        if unknown:  # Gymnasium adds `_key`, which says who gave a mask
            raise UserError(f"an action mask is for {unknown[0]!r}, which is no part of {self.space}.")
        return flat

    def _choices(self, part: Part, choices: Array) -> Array:
        """Return the choices of one part; a copy."""
        own = np.ascontiguousarray(choices[:, part.stored]).view(part.actions.dtype)
        return own.reshape(len(choices), *part.actions.shape)

    def _split(
        self, outputs: Floats, masks: Flags, count: int
    ) -> Iterator[tuple[Part, Floats, Flags, Array, NDArray[np.float32]]]:
        """Yield each part with its outputs and masks, and memory for its choices and log-probabilities."""
        heads, free = np.split(outputs, [self.outputs - self.free_outputs], axis=1)
        for part in self.parts:
            is_masked = len(masks) > 0 and part.actions.mask_size > 0
            yield (
                part,
                np.concatenate((heads[:, part.outputs], free[:, part.free]), axis=1),
                np.ascontiguousarray(masks[:, part.masks]) if is_masked else NO_MASKS,
                np.empty((count, *part.actions.shape), part.actions.dtype),
                np.empty(count, np.float32),
            )


def parts_of(space: "spaces.Dict | spaces.Tuple[Any]") -> dict[Any, spaces.Space[Any]]:
    """Return the parts of a space by their key or place."""
    return dict(space.spaces) if isinstance(space, spaces.Dict) else dict(enumerate(space.spaces))


def _lay_out(parts: Mapping[Any, ActionDistribution]) -> Iterator[Part]:
    """Lay the parts' shares side by side, in their order."""
    ends = [0, 0, 0, 0]
    for key, actions in parts.items():
        sizes = (
            actions.outputs - actions.free_outputs,
            actions.free_outputs,
            actions.mask_size,
            int(np.prod(actions.shape)) * actions.dtype.itemsize,
        )
        places = [slice(end, end + size) for end, size in zip(ends, sizes, strict=True)]
        ends = [place.stop for place in places]
        yield Part(key, actions, *places)


def _as_bytes(choices: Array) -> NDArray[np.uint8]:
    return choices.reshape(len(choices), -1).view(np.uint8)
