"""The environments' state in a checkpoint: every array of it by name, and back."""

from typing import Any

import jax
import numpy as np
import torch

from garrison.errors import UserError

SEEN_AS = {np.dtype(np.uint32): np.int32, np.dtype(np.uint16): np.int16}
"""Types that torch cannot compare, and those with the same bits."""


def to_saved(scene: Any) -> dict[str, Any]:
    """Return the arrays of a pytree by their names; keys of JAX as the numbers that they are."""
    return {name: torch.from_numpy(_plain(leaf)) for name, leaf in _named(scene)}


def from_saved(saved: Any, example: Any) -> Any:
    """Return a pytree like `example` from what `to_saved` made of one; raise a UserError if it is of another form."""
    fresh = dict(_named(example))
    wanted = {name: _plain(leaf) for name, leaf in fresh.items()}
    known = isinstance(saved, dict) and saved.keys() == wanted.keys()
    if not known or not all(_fits(saved[name], array) for name, array in wanted.items()):
        raise UserError(
            "cannot resume: the saved episodes do not fit these environments.",
            hint="They are of another version, or the checkpoint was changed: start a new run.",
        )
    leaves = [_like(saved[name].numpy(), leaf) for name, leaf in fresh.items()]
    return jax.tree.unflatten(jax.tree.structure(example), leaves)


def layout_of(env: Any) -> str:
    """Name the fields of the state of an environment written in JAX: another version of it may have others."""
    _, state = jax.eval_shape(env.reset, jax.random.key(0), env.default_params)
    return ", ".join(f"{name} {leaf.dtype}{list(leaf.shape)}" for name, leaf in _named(state))


def _named(tree: Any) -> list[tuple[str, Any]]:
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]]


def _is_key(leaf: Any) -> bool:
    return bool(jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _plain(leaf: Any) -> Any:
    array = np.array(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
    return array.view(SEEN_AS.get(array.dtype, array.dtype))


def _fits(tensor: Any, array: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and tensor.shape == array.shape and tensor.numpy().dtype == array.dtype


def _like(array: Any, leaf: Any) -> Any:
    """Give an array the type of a leaf."""
    if _is_key(leaf):
        return jax.random.wrap_key_data(array.view(np.uint32), impl=jax.random.key_impl(leaf))
    return array.view(leaf.dtype)
