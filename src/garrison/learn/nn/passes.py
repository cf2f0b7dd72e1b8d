"""The compiled passes over a feed-forward network with categorical actions: act, evaluate, learn.

Each works through its samples in chunks that stay in the core's cache, without Python's lock.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.learn.nn.blas import Blas, new_blas
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
from garrison.learn.nn.plan import CHUNK, Scratch
from garrison.learn.nn.sampling import Streams, assess, draw

Flags = NDArray[np.bool_]


class Net(NamedTuple):
    """A policy as compiled code sees it."""

    actor: Table
    critic: Table
    """Without layers if it shares the actor's."""
    action_head: Table
    value_head: Table
    activation: int
    flat: Floats
    """All parameters."""
    bias: Floats
    """The action head's biases; the padding's make it impossible."""
    offsets: NDArray[np.int64]
    """Where each head of logits begins; the padding belongs to the last."""


class Decisions(NamedTuple):
    """What is chosen in each environment, how likely that was, and the critic's value."""

    choices: NDArray[np.int32]
    log_probs: Floats
    values: Floats


@kernel
def _forward(blas: Blas, net: Net, work: Floats, n: int, wants_logits: bool) -> None:
    """Compute values and, if wanted, logits; both without bias."""
    if wants_logits or net.critic.shape[0] == 0:
        tower_forward(blas, net.actor, net.flat, work, n, net.activation)
    if wants_logits:
        linear_forward(blas, net.action_head, net.flat, work, n)
    tower_forward(blas, net.critic, net.flat, work, n, net.activation)
    linear_forward(blas, net.value_head, net.flat, work, n)


@kernel
def _logits(net: Net, work: Floats, n: int) -> Floats:
    y, width = net.action_head[Column.Y], net.action_head[Column.WIDTH]
    return work[y : y + n * width].reshape(n, width)


@kernel(cached=True)
def act(sgemm: Any, net: Net, work: Floats, inputs: Floats, masks: Flags, streams: Streams, out: Decisions) -> None:
    """Draw actions for all inputs; or only compute their values, if `out.choices` is empty."""
    blas = new_blas(sgemm)
    wants_logits = out.choices.shape[0] > 0
    for begin in range(0, inputs.shape[0], CHUNK):
        end = min(begin + CHUNK, inputs.shape[0])
        n = end - begin
        work[: n * inputs.shape[1]] = inputs[begin:end].reshape(-1)
        _forward(blas, net, work, n, wants_logits)
        if wants_logits:
            allowed = masks[begin:end] if masks.shape[0] else masks
            choices, log_probs = out.choices[begin:end], out.log_probs[begin:end]
            draw(_logits(net, work, n), net.bias, allowed, net.offsets, streams[begin:end], choices, log_probs)
        for k in range(n):
            out.values[begin + k] = work[net.value_head[Column.Y] + k] + net.flat[net.value_head[Column.BIAS]]


@kernel(cached=True)
def evaluate(sgemm: Any, net: Net, work: Floats, inputs: Floats, masks: Flags, out: Decisions) -> None:
    """Write the values of all inputs and the log-probabilities of their choices."""
    blas = new_blas(sgemm)
    for begin in range(0, inputs.shape[0], CHUNK):
        end = min(begin + CHUNK, inputs.shape[0])
        n = end - begin
        work[: n * inputs.shape[1]] = inputs[begin:end].reshape(-1)
        _forward(blas, net, work, n, True)
        allowed = masks[begin:end] if masks.shape[0] else masks
        choices, log_probs = out.choices[begin:end], out.log_probs[begin:end]
        assess(_logits(net, work, n), net.bias, allowed, net.offsets, choices, log_probs)
        for k in range(n):
            out.values[begin + k] = work[net.value_head[Column.Y] + k] + net.flat[net.value_head[Column.BIAS]]


@kernel(cached=True)
def learn(
    sgemm: Any,
    net: Net,
    inputs: Floats,
    rows: Rows,
    samples: Samples,
    terms: Terms,
    share: np.float32,
    scratch: Scratch,
) -> None:
    """Write the gradient over the samples `rows` into the scratch's `gradients`, and the loss's parts into `sums`."""
    blas = new_blas(sgemm)
    work, gradients, flat = scratch.work, scratch.gradients, net.flat
    gradients[:] = 0.0
    scratch.bias_gradient[:] = 0.0
    scratch.sums[:] = 0.0
    y, bias = net.value_head[Column.Y], net.value_head[Column.BIAS]
    loss_scratch = LossScratch(
        scratch.weights, scratch.heads, scratch.bias_gradient, gradients[bias : bias + 1], scratch.sums
    )
    for begin in range(0, rows.shape[0], CHUNK):
        end = min(begin + CHUNK, rows.shape[0])
        n = end - begin
        work[: n * inputs.shape[1]] = inputs[begin:end].reshape(-1)
        _forward(blas, net, work, n, True)
        values = work[y : y + n].reshape(n, 1)
        outputs = HeadOutputs(_logits(net, work, n), net.bias, values, flat[bias : bias + 1])
        ppo_gradient(outputs, rows[begin:end], samples, net.offsets, terms, share, loss_scratch)
        linear_backward(blas, net.action_head, flat, gradients, work, n, 0.0)
        # With a shared trunk, both heads' gradients meet in the features.
        shared = net.critic.shape[0] == 0
        linear_backward(blas, net.value_head, flat, gradients, work, n, 1.0 if shared else 0.0)
        tower_backward(blas, net.critic, flat, gradients, work, n, net.activation)
        tower_backward(blas, net.actor, flat, gradients, work, n, net.activation)
    begin, outputs_count = net.action_head[Column.BIAS], net.action_head[Column.OUTPUTS]
    gradients[begin : begin + outputs_count] = scratch.bias_gradient[:outputs_count]
