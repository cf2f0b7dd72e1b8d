"""The compiled passes over a feed-forward network with categorical actions: act, evaluate, learn.

Each works through its samples in chunks that stay in the core's cache, without Python's lock.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.learn.nn.bits import SPARSE, Ones, add_columns, add_slopes, list_ones, spread_ones, turn, turn_back
from garrison.learn.nn.blas import Blas, new_blas
from garrison.learn.nn.groups import Groups, group_equal, part_of, singles
from garrison.learn.nn.layers import (
    Column,
    Floats,
    Table,
    linear_backward,
    linear_forward,
    tower_backward,
    tower_forward,
)
from garrison.learn.nn.loss import HeadOutputs, LossScratch, Rows, Samples, Terms, ppo_gradient
from garrison.learn.nn.plan import CHUNK, Scratch, Seen
from garrison.learn.nn.sampling import Streams, assess, draw

Flags = NDArray[np.bool_]


class Net(NamedTuple):
    """A policy as compiled code sees it."""

    size: int
    """The number of network inputs."""
    actor: Table
    critic: Table
    """Without layers if it shares the actor's."""
    action_head: Table
    value_head: Table
    activation: int
    flat: Floats
    """All parameters."""
    offsets: NDArray[np.int64]
    """Where each head of logits begins; the padding belongs to the last."""


class Decisions(NamedTuple):
    """What is chosen in each environment, how likely that was, and the critic's value."""

    choices: NDArray[np.int32]
    log_probs: Floats
    values: Floats


@kernel
def prepare(net: Net, sees_bits: bool, scratch: Scratch) -> None:
    """Copy the parameters that the passes read in another form than they are stored."""
    begin, outputs = net.action_head[Column.BIAS], net.action_head[Column.OUTPUTS]
    scratch.bias[:outputs] = net.flat[begin : begin + outputs]
    if sees_bits:
        for tower in (net.actor, net.critic):
            if tower.shape[0]:
                turn(_weights(tower[0], net.flat), _turned(tower[0], scratch.turned))


@kernel
def _weights(layer: Table, flat: Floats) -> Floats:
    begin, outputs, inputs = layer[Column.WEIGHT], layer[Column.OUTPUTS], layer[Column.INPUTS]
    return flat[begin : begin + outputs * inputs].reshape(outputs, inputs)


@kernel
def _turned(layer: Table, turned: Floats) -> Floats:
    begin, outputs, inputs = layer[Column.TURNED], layer[Column.OUTPUTS], layer[Column.INPUTS]
    return turned[begin : begin + outputs * inputs].reshape(inputs, outputs)


@kernel
def _outputs(layer: Table, column: int, work: Floats, n: int) -> Floats:
    begin, width = layer[column], layer[Column.WIDTH]
    return work[begin : begin + n * width].reshape(n, width)


@kernel
def _read(net: Net, seen: Seen, rows: Rows, begin: int, end: int, scratch: Scratch) -> bool:
    """Read a chunk's observations; return whether they are listed as `Ones`, and not written as numbers."""
    n = end - begin
    x = scratch.work[: n * net.size].reshape(n, net.size)
    if seen.bits.shape[0] == 0:
        x[:] = seen.inputs[begin:end]
        return False
    ones = Ones(scratch.columns, scratch.ends)
    if list_ones(seen.bits, rows[begin:end], ones) * SPARSE <= x.size and net.actor.shape[0] > 0:
        return True
    spread_ones(ones, x)
    return False


@kernel
def _tower_forward(blas: Blas, net: Net, tower: Table, scratch: Scratch, n: int, is_listed: bool) -> None:
    if is_listed and tower.shape[0]:
        turned = _turned(tower[0], scratch.turned)
        add_columns(Ones(scratch.columns, scratch.ends), turned, _outputs(tower[0], Column.Y, scratch.work, n))
    tower_forward(blas, tower, net.flat, scratch.work, n, net.activation, is_listed)


@kernel
def _tower_backward(blas: Blas, net: Net, tower: Table, scratch: Scratch, n: int, is_listed: bool) -> None:
    tower_backward(blas, tower, net.flat, scratch.gradients, scratch.work, n, net.activation, is_listed)
    if is_listed and tower.shape[0]:
        turned = _turned(tower[0], scratch.turned_gradients)
        add_slopes(Ones(scratch.columns, scratch.ends), _outputs(tower[0], Column.DY, scratch.work, n), turned)


@kernel
def _forward(blas: Blas, net: Net, scratch: Scratch, n: int, is_listed: bool, wants_logits: bool) -> None:
    """Compute values and, if wanted, logits; both without bias."""
    if wants_logits or net.critic.shape[0] == 0:
        _tower_forward(blas, net, net.actor, scratch, n, is_listed)
    if wants_logits:
        linear_forward(blas, net.action_head, net.flat, scratch.work, n)
    _tower_forward(blas, net, net.critic, scratch, n, is_listed)
    linear_forward(blas, net.value_head, net.flat, scratch.work, n)


@kernel
def _write_values(net: Net, work: Floats, values: Floats) -> None:
    for k in range(values.shape[0]):
        values[k] = work[net.value_head[Column.Y] + k] + net.flat[net.value_head[Column.BIAS]]


@kernel(cached=True)
def act(
    sgemm: Any, net: Net, seen: Seen, rows: Rows, masks: Flags, streams: Streams, out: Decisions, scratch: Scratch
) -> None:
    """Draw actions for the observations `rows`, which lie side by side; or only values, if `out.choices` is empty."""
    prepare(net, seen.bits.shape[0] > 0, scratch)
    decide(new_blas(sgemm), net, seen, rows, masks, streams, out, scratch)


@kernel
def decide(
    blas: Blas, net: Net, seen: Seen, rows: Rows, masks: Flags, streams: Streams, out: Decisions, scratch: Scratch
) -> None:
    """Do the same as `act`, which calls it, again and again with the parameters that `prepare` has copied."""
    work, wants_logits = scratch.work, out.choices.shape[0] > 0
    if seen.bits.shape[0]:
        groups = group_equal(seen.bits[rows[0] : rows[-1] + 1], masks)
    else:
        groups = singles(np.arange(rows.shape[0]))
    heads = rows[groups.heads]
    for begin in range(0, heads.shape[0], CHUNK):
        end = min(begin + CHUNK, heads.shape[0])
        n = end - begin
        part = part_of(groups, begin, end)
        is_listed = _read(net, seen, heads, begin, end, scratch)
        _forward(blas, net, scratch, n, is_listed, wants_logits)
        if wants_logits:
            logits = _outputs(net.action_head, Column.Y, work, n)
            draw(logits, part, scratch.bias, masks, net.offsets, streams, out.choices, out.log_probs)
        y, bias = net.value_head[Column.Y], net.flat[net.value_head[Column.BIAS]]
        for k in range(n):
            for i in part.members[part.borders[k] : part.borders[k + 1]]:
                out.values[i] = work[y + k] + bias


@kernel(cached=True)
def evaluate(sgemm: Any, net: Net, seen: Seen, rows: Rows, masks: Flags, out: Decisions, scratch: Scratch) -> None:
    """Write the values of the observations `rows` and the log-probabilities of their choices."""
    blas, work = new_blas(sgemm), scratch.work
    prepare(net, seen.bits.shape[0] > 0, scratch)
    for begin in range(0, rows.shape[0], CHUNK):
        end = min(begin + CHUNK, rows.shape[0])
        n = end - begin
        is_listed = _read(net, seen, rows, begin, end, scratch)
        _forward(blas, net, scratch, n, is_listed, True)
        allowed = masks[begin:end] if masks.shape[0] else masks
        choices, log_probs = out.choices[begin:end], out.log_probs[begin:end]
        logits = _outputs(net.action_head, Column.Y, work, n)
        assess(logits, scratch.bias, allowed, net.offsets, choices, log_probs)
        _write_values(net, work, out.values[begin:end])


@kernel(cached=True)
def learn(
    sgemm: Any,
    net: Net,
    seen: Seen,
    groups: Groups,
    samples: Samples,
    terms: Terms,
    share: np.float32,
    scratch: Scratch,
) -> None:
    """Write the gradient over all members of `groups` into the scratch's `gradients`, the loss's parts into `sums`."""
    blas = new_blas(sgemm)
    work, gradients, flat = scratch.work, scratch.gradients, net.flat
    prepare(net, seen.bits.shape[0] > 0, scratch)
    gradients[:] = 0.0
    scratch.turned_gradients[:] = 0.0
    scratch.bias_gradient[:] = 0.0
    scratch.sums[:] = 0.0
    y, bias = net.value_head[Column.Y], net.value_head[Column.BIAS]
    loss_scratch = LossScratch(
        scratch.weights, scratch.pulls, scratch.heads, scratch.bias_gradient, gradients[bias : bias + 1], scratch.sums
    )
    for begin in range(0, groups.heads.shape[0], CHUNK):
        end = min(begin + CHUNK, groups.heads.shape[0])
        n = end - begin
        is_listed = _read(net, seen, groups.heads, begin, end, scratch)
        _forward(blas, net, scratch, n, is_listed, True)
        logits, values = _outputs(net.action_head, Column.Y, work, n), work[y : y + n].reshape(n, 1)
        outputs = HeadOutputs(logits, scratch.bias, values, flat[bias : bias + 1])
        ppo_gradient(outputs, part_of(groups, begin, end), samples, net.offsets, terms, share, loss_scratch)
        linear_backward(blas, net.action_head, flat, gradients, work, n, 0.0)
        # With a shared trunk, both heads' gradients meet in the features.
        shared = net.critic.shape[0] == 0
        linear_backward(blas, net.value_head, flat, gradients, work, n, 1.0 if shared else 0.0)
        _tower_backward(blas, net, net.critic, scratch, n, is_listed)
        _tower_backward(blas, net, net.actor, scratch, n, is_listed)
    if seen.bits.shape[0]:
        for tower in (net.actor, net.critic):
            if tower.shape[0]:
                turn_back(_turned(tower[0], scratch.turned_gradients), _weights(tower[0], gradients))
    begin, outputs_count = net.action_head[Column.BIAS], net.action_head[Column.OUTPUTS]
    gradients[begin : begin + outputs_count] = scratch.bias_gradient[:outputs_count]
