"""A trained policy as a graph: from the environment's own observations to the action that it takes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from garrison.errors import UserError
from garrison.export.graph import Array, Graph, Port
from garrison.learn.nn.arithmetic import MASKED
from garrison.learn.nn.convolutions import Impala, Nature
from garrison.learn.nn.encoders import Flat, OwnEncoder
from garrison.learn.nn.normaliser import LIMIT, SMALLEST_VARIANCE
from garrison.learn.nn.policy import Policy
from garrison.learn.spaces.actions import ActionDistribution
from garrison.learn.spaces.categorical import Categorical
from garrison.learn.spaces.composite_actions import Composite
from garrison.learn.spaces.gaussian import Gaussian
from garrison.learn.spaces.images import BRIGHTEST, ImageForm
from garrison.learn.spaces.observations import BitsForm, IndexForm, NumbersForm, ObservationForm
from garrison.learn.spaces.registry import observation_form
from garrison.learn.spaces.squashed import Squashed

OBSERVATION, STATE, MASK = "observation", "state", "mask"
ACTION, NEXT_STATE, OUTPUTS = "action", "next_state", "outputs"
Path = tuple[str | int, ...]


def policy_graph(policy: Policy, masked: bool, action_ids: Array | None = None) -> Graph:
    """Return the graph of a policy's actor.

    Its inputs are each leaf of the observation as the environment shows it, `mask` if the policy was trained with
    masks, and `state` if it is recurrent: zeros where an episode begins. Its outputs are the likeliest `action` (each
    part of it), the network's `outputs`, and `next_state`.

    Args:
        policy: what to export, on the CPU.
        masked: whether it takes masks.
        action_ids: the environment's actions by the network's choices, where they differ.
    """
    graph = Graph()
    leaves = list(_leaves(policy.seen.space))
    values = [_read(graph, form, path) for path, form in leaves]
    if policy.normaliser is not None:
        _normalise(graph, policy, values)
    x = _dense(graph, policy, _encode(graph, policy, values))
    if policy.is_recurrent:
        x = _step_gru(graph, policy, x)
    outputs = _linear(graph, policy.action_head, x)
    actions = policy.actions
    mask = graph.take(Port(MASK, "bool", (actions.mask_size,))) if masked else None
    width = actions.outputs - actions.free_outputs
    _decide(graph, actions, outputs, mask, (0, 0), (), action_ids)
    graph.give(outputs, Port(OUTPUTS, "float32", (width,)))
    return graph


def _leaves(space: spaces.Space[Any], path: Path = ()) -> Iterator[tuple[Path, ObservationForm]]:
    """Yield the forms of a space's parts, in the order in which a policy reads them."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys: Any = space.spaces if isinstance(space, spaces.Dict) else range(len(space.spaces))
        for key in keys:
            yield from _leaves(space[key], (*path, key))
    else:
        yield path, observation_form(space)


def _name(stem: str, path: Path) -> str:
    return ".".join([stem, *map(str, path)])


def _read(graph: Graph, form: ObservationForm, path: Path) -> str:
    """Take an observation, and make of it what the form gives to networks."""
    space, kind = form.space, type(form)
    dtype = {ImageForm: "uint8", IndexForm: "int64"}.get(kind, "float32")
    value = graph.take(Port(_name(OBSERVATION, path), dtype, tuple(space.shape or ()), path))
    if kind in (BitsForm, NumbersForm):
        return graph.rows(value, form.input_shape)
    if isinstance(form, ImageForm):
        value = graph.add("Transpose", value, perm=list(form.to_channels_first))
        value = graph.add("Cast", graph.rows(value, form.input_shape), to="float32")
        return graph.add("Div", value, np.array(BRIGHTEST, np.float32))
    if isinstance(form, IndexForm):
        begins = form._begins - form._start
        index = graph.add("Add", graph.rows(value, form.shape), begins.astype(np.int64))
        one_hot = graph.add("Gather", np.eye(form.size, dtype=np.float32), index)
        return graph.add("ReduceSum", one_hot, np.array([1], np.int64), keepdims=0)
    raise UserError(f"observations of {space} are read by {kind.__name__}, which cannot be exported.")


def _normalise(graph: Graph, policy: Policy, values: list[str]) -> None:
    """Scale the leaves that are plain numbers, as `Normaliser` does."""
    assert policy.normaliser is not None
    measured = [number for number, leaf in enumerate(policy.observations.leaves) if leaf.is_measured]
    for number, mean, variance in zip(measured, policy.normaliser.means, policy.normaliser.variances, strict=True):
        if number >= len(values):  # what only the critic saw
            break
        scale = (variance + SMALLEST_VARIANCE).rsqrt()
        centred = graph.add("Sub", values[number], _array(mean))
        scaled = graph.add("Mul", centred, _array(scale))
        values[number] = graph.add("Clip", scaled, np.array(-LIMIT, np.float32), np.array(LIMIT, np.float32))


def _encode(graph: Graph, policy: Policy, values: list[str]) -> str:
    encoder = policy.actor.encoder
    if isinstance(encoder, OwnEncoder):
        found = graph.add("Module", *values)
        graph.modules[found] = encoder
        return found
    features = [_encode_leaf(graph, part, value) for part, value in zip(encoder.parts, values, strict=True)]
    return features[0] if len(features) == 1 else graph.add("Concat", *features, axis=1)


def _encode_leaf(graph: Graph, part: nn.Module, x: str) -> str:
    if isinstance(part, Nature):
        for layer in part.layers:
            x = _convolve(graph, layer, x) if isinstance(layer, nn.Conv2d) else graph.add("Relu", x)
    elif isinstance(part, Impala):
        for stage in part.stages:
            assert isinstance(stage, nn.Module)
            x = _convolve(graph, stage.convolution, x)
            x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
            for block in stage.blocks:  # type: ignore[union-attr]
                change = _convolve(graph, block.first, graph.add("Relu", x))
                x = graph.add("Add", x, _convolve(graph, block.second, graph.add("Relu", change)))
        x = graph.add("Relu", x)
    elif not isinstance(part, Flat):
        raise UserError(f"the encoder {type(part).__name__} cannot be exported.")
    return graph.add("Flatten", x, axis=1)


def _convolve(graph: Graph, layer: Any, x: str) -> str:
    pads = [*layer.padding, *layer.padding]
    return graph.add("Conv", x, _array(layer.weight), _array(layer.bias), strides=list(layer.stride), pads=pads)


def _dense(graph: Graph, policy: Policy, x: str) -> str:
    activation = "Tanh" if policy.config.activation == "tanh" else "Relu"
    for layer in policy.actor.layers:
        assert isinstance(layer, nn.Linear)
        x = graph.add(activation, _linear(graph, layer, x))
    return x


def _linear(graph: Graph, layer: nn.Linear, x: str) -> str:
    return graph.add("Gemm", x, _array(layer.weight), _array(layer.bias), transB=1)


def _step_gru(graph: Graph, policy: Policy, x: str) -> str:
    """Make one step of the GRU; its next state is also what comes out of it."""
    gru: Any = policy.actor.gru
    size = policy.config.recurrent_size
    before = graph.take(Port(STATE, "float32", (size,)))
    ours = graph.add("Gemm", x, _array(gru.weight_ih_l0), _array(gru.bias_ih_l0), transB=1)
    theirs = graph.add("Gemm", before, _array(gru.weight_hh_l0), _array(gru.bias_hh_l0), transB=1)
    parts = [(graph.columns(ours, a, a + size), graph.columns(theirs, a, a + size)) for a in (0, size, 2 * size)]
    reset, update = (graph.add("Sigmoid", graph.add("Add", *pair)) for pair in parts[:2])
    new = graph.add("Tanh", graph.add("Add", parts[2][0], graph.add("Mul", reset, parts[2][1])))
    kept = graph.add("Mul", update, graph.add("Sub", before, new))
    after = graph.add("Add", new, kept)
    graph.give(after, Port(NEXT_STATE, "float32", (size,)))
    return after


def _decide(
    graph: Graph,
    actions: ActionDistribution,
    outputs: str,
    mask: str | None,
    begin: tuple[int, int],
    path: Path,
    action_ids: Array | None,
) -> None:
    """Give the likeliest action; what describes it begins at these places of the outputs and of the mask."""
    at, masks_at = begin
    if isinstance(actions, Composite):
        for part in actions.parts:
            where = (at + part.outputs.start, masks_at + part.masks.start)
            _decide(graph, part.actions, outputs, mask, where, (*path, part.key), None)
        return
    shape = tuple(actions.space.shape or ())
    if isinstance(actions, Categorical):
        chosen = []
        for a, b in zip(actions.offsets[:-1].tolist(), actions.offsets[1:].tolist(), strict=True):
            logits = graph.columns(outputs, at + a, at + b)
            if mask is not None:
                allowed = graph.columns(mask, masks_at + a, masks_at + b)
                logits = graph.add("Where", allowed, logits, np.array(MASKED, np.float32))
            chosen.append(graph.add("ArgMax", logits, axis=1, keepdims=1))
        found = chosen[0] if len(chosen) == 1 else graph.add("Concat", *chosen, axis=1)
        if action_ids is not None:
            found = graph.add("Gather", action_ids.astype(np.int64), found)
        else:
            found = graph.add("Add", found, actions._start.astype(np.int64))
        dtype = "int64"
    elif isinstance(actions, Gaussian):
        size = actions.outputs - actions.free_outputs
        found, dtype = graph.columns(outputs, at, at + size), "float32"
        if isinstance(actions, Squashed):
            found = graph.add("Mul", graph.add("Tanh", found), actions._half_width.astype(np.float32))
            found = graph.add("Add", found, actions._middle.astype(np.float32))
        found = graph.add("Max", found, actions._low.astype(np.float32))
        found = graph.add("Min", found, actions._high.astype(np.float32))
    else:
        raise UserError(f"actions by {type(actions).__name__} cannot be exported.")
    graph.give(graph.rows(found, shape), Port(_name(ACTION, path), dtype, shape, path))


def _array(parameter: torch.Tensor) -> Array:
    return parameter.detach().cpu().numpy()
