"""A feed-forward network computed by hand: matrix products through BLAS, everything between them compiled.

Torch's autograd passes over the 145 logits of a sample a dozen times, and every pass goes through memory. Here a
minibatch is split over threads (a lane each), and a lane works through its part in chunks that stay in the core's
cache: forward, one pass for loss and gradient, backward; all without Python's lock, so the lanes run side by side.
Tested against `AutogradNetwork`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from garrison.jit import kernel
from garrison.learn.loss import Means, Rows, Terms, ppo_gradient
from garrison.learn.nn.arithmetic import MASKED
from garrison.learn.nn.blas import find_sgemm, new_call
from garrison.learn.nn.layers import (
    ACTIVATIONS,
    Column,
    Table,
    linear_backward,
    linear_forward,
    tower_backward,
    tower_forward,
)
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import Streams, assess, draw
from garrison.learn.rollout import Batch, Rollout

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

CHUNK = 256  # samples a lane works on at once: small enough for its second-level cache
VECTOR = 32  # logits are padded to a multiple of this, so that compiled passes over them have no leftover columns
SMALLEST_SHARE = 128  # fewer rows a lane are not worth waking a thread


class Plan:
    """Where everything lies: layer tables over the policy's flat parameters and a lane's workspace."""

    def __init__(self, policy: Policy) -> None:
        self._places: dict[int, int] = {}
        place = 0
        for parameter in policy.parameters():
            self._places[id(parameter)] = place
            place += parameter.numel()
        self.size = 0  # of the workspace, in floats
        inputs = self._room(policy.observations.size)
        self.is_shared = policy.critic is policy.actor
        self.actor, features, dfeatures = self._tower(policy.actor.layers, inputs)
        self.padded = -(-policy.actions.size // VECTOR) * VECTOR
        self.action_head = self._layer(policy.action_head, self.padded, features, dfeatures)
        self.critic = self.actor[:0]
        if not self.is_shared:
            self.critic, features, dfeatures = self._tower(policy.critic.layers, inputs)
        self.value_head = self._layer(policy.value_head, 1, features, dfeatures)
        # A head's outputs are replaced by their gradient, in place.
        for head in (self.action_head, self.value_head):
            head[Column.DY] = head[Column.Y]

    def _room(self, width: int) -> int:
        place = self.size
        self.size += CHUNK * width
        return place

    def _tower(self, layers: nn.ModuleList, x: int) -> tuple[Table, int, int]:
        rows, dx = [], -1  # nobody needs the gradient of the network's inputs
        for layer in layers:
            assert isinstance(layer, nn.Linear)
            rows.append(self._layer(layer, layer.out_features, x, dx))
            x, dx = rows[-1][Column.Y], rows[-1][Column.DY]
        return np.array(rows, np.int64).reshape(len(rows), len(Column)), x, dx

    def _layer(self, layer: nn.Linear, width: int, x: int, dx: int) -> Table:
        weight, bias = self._places[id(layer.weight)], self._places[id(layer.bias)]
        y, dy = self._room(width), self._room(width)
        return np.array([weight, bias, layer.in_features, layer.out_features, width, x, y, dx, dy], np.int64)


@kernel
def _forward(
    sgemm: Any,
    call: Any,
    actor: Table,
    critic: Table,
    action_head: Table,
    value_head: Table,
    activation: int,
    flat: Floats,
    work: Floats,
    n: int,
    wants_logits: bool,
) -> None:
    """Compute values and, if wanted, logits; both without bias."""
    if wants_logits or critic.shape[0] == 0:
        tower_forward(sgemm, call, actor, flat, work, n, activation)
    if wants_logits:
        linear_forward(sgemm, call, action_head, flat, work, n)
    tower_forward(sgemm, call, critic, flat, work, n, activation)
    linear_forward(sgemm, call, value_head, flat, work, n)


@kernel(cached=True)
def _act(
    sgemm: Any,
    actor: Table,
    critic: Table,
    action_head: Table,
    value_head: Table,
    activation: int,
    flat: Floats,
    work: Floats,
    inputs: Floats,
    bias: Floats,
    masks: Flags,
    offsets: NDArray[np.int64],
    streams: Streams,
    indices: NDArray[np.int32],
    log_probs: Floats,
    values: Floats,
) -> None:
    """Draw actions for all inputs; or only evaluate them, if `indices` is empty."""
    call = new_call()
    wants_logits = indices.shape[0] > 0
    width = action_head[Column.WIDTH]
    for begin in range(0, inputs.shape[0], CHUNK):
        end = min(begin + CHUNK, inputs.shape[0])
        n = end - begin
        work[: n * inputs.shape[1]] = inputs[begin:end].reshape(-1)
        _forward(sgemm, call, actor, critic, action_head, value_head, activation, flat, work, n, wants_logits)
        if wants_logits:
            logits = work[action_head[Column.Y] : action_head[Column.Y] + n * width].reshape(n, width)
            allowed = masks[begin:end] if masks.shape[0] else masks
            draw(logits, bias, allowed, offsets, streams[begin:end], indices[begin:end], log_probs[begin:end])
        for k in range(n):
            values[begin + k] = work[value_head[Column.Y] + k] + flat[value_head[Column.BIAS]]


@kernel(cached=True)
def _evaluate(
    sgemm: Any,
    actor: Table,
    critic: Table,
    action_head: Table,
    value_head: Table,
    activation: int,
    flat: Floats,
    work: Floats,
    inputs: Floats,
    bias: Floats,
    masks: Flags,
    offsets: NDArray[np.int64],
    indices: NDArray[np.int32],
    log_probs: Floats,
    values: Floats,
) -> None:
    """Write the values of all inputs and the log-probabilities of their `indices`."""
    call = new_call()
    width = action_head[Column.WIDTH]
    for begin in range(0, inputs.shape[0], CHUNK):
        end = min(begin + CHUNK, inputs.shape[0])
        n = end - begin
        work[: n * inputs.shape[1]] = inputs[begin:end].reshape(-1)
        _forward(sgemm, call, actor, critic, action_head, value_head, activation, flat, work, n, True)
        logits = work[action_head[Column.Y] : action_head[Column.Y] + n * width].reshape(n, width)
        allowed = masks[begin:end] if masks.shape[0] else masks
        assess(logits, bias, allowed, offsets, indices[begin:end], log_probs[begin:end])
        for k in range(n):
            values[begin + k] = work[value_head[Column.Y] + k] + flat[value_head[Column.BIAS]]


@kernel(cached=True)
def _learn(
    sgemm: Any,
    actor: Table,
    critic: Table,
    action_head: Table,
    value_head: Table,
    activation: int,
    flat: Floats,
    work: Floats,
    inputs: Floats,
    bias: Floats,
    gradients: Floats,
    bias_gradient: Floats,
    weights: Floats,
    heads: Floats,
    sums: NDArray[np.float64],
    rows: Rows,
    indices: NDArray[np.int32],
    masks: Flags,
    old_log_probs: Floats,
    old_values: Floats,
    advantages: Floats,
    returns: Floats,
    offsets: NDArray[np.int64],
    clip: np.float32,
    value_clip: np.float32,
    value_coef: np.float32,
    entropy_coef: np.float32,
    advantage_mean: np.float32,
    advantage_scale: np.float32,
    share: np.float32,
) -> None:
    """Write the gradient over the samples `rows` into `gradients`, and the parts of the loss into `sums`."""
    call = new_call()
    gradients[:] = 0.0
    bias_gradient[:] = 0.0
    sums[:] = 0.0
    width, value_bias = action_head[Column.WIDTH], value_head[Column.BIAS]
    for begin in range(0, rows.shape[0], CHUNK):
        end = min(begin + CHUNK, rows.shape[0])
        n = end - begin
        work[: n * inputs.shape[1]] = inputs[begin:end].reshape(-1)
        _forward(sgemm, call, actor, critic, action_head, value_head, activation, flat, work, n, True)
        ppo_gradient(
            work[action_head[Column.Y] : action_head[Column.Y] + n * width].reshape(n, width),
            bias,
            work[value_head[Column.Y] : value_head[Column.Y] + n].reshape(n, 1),
            flat[value_bias : value_bias + 1],
            rows[begin:end],
            indices,
            masks,
            old_log_probs,
            old_values,
            advantages,
            returns,
            offsets,
            clip,
            value_clip,
            value_coef,
            entropy_coef,
            advantage_mean,
            advantage_scale,
            share,
            weights,
            heads,
            bias_gradient,
            gradients[value_bias : value_bias + 1],
            sums,
        )
        linear_backward(sgemm, call, action_head, flat, gradients, work, n, 0.0)
        # With a shared trunk, both heads' gradients meet in the features.
        shared = critic.shape[0] == 0
        linear_backward(sgemm, call, value_head, flat, gradients, work, n, 1.0 if shared else 0.0)
        tower_backward(sgemm, call, critic, flat, gradients, work, n, activation)
        tower_backward(sgemm, call, actor, flat, gradients, work, n, activation)
    outputs = action_head[Column.OUTPUTS]
    gradients[action_head[Column.BIAS] : action_head[Column.BIAS] + outputs] = bias_gradient[:outputs]


class Lane:
    """What one thread writes to: a workspace, a gradient and the parts of the loss."""

    def __init__(self, policy: Policy, plan: Plan) -> None:
        self.work = _apart(plan.size, np.float32)
        self.inputs = np.empty((0, policy.observations.size), np.float32)
        self.gradients = _apart(len(policy.flat), np.float32)
        self.bias_gradient = _apart(plan.padded, np.float32)
        self.weights = _apart(plan.padded, np.float32)
        self.heads = _apart(3 * policy.actions.heads, np.float32).reshape(-1, 3)
        self.sums = _apart(len(Means._fields), np.float64)

    def inputs_of(self, policy: Policy, observations: NDArray[Any], rows: Rows) -> Floats:
        """Unfold stored observations into this lane's memory, which grows as needed."""
        if len(self.inputs) < len(rows):
            self.inputs = np.empty((len(rows), policy.observations.size), np.float32)
        inputs = self.inputs[: len(rows)]
        policy.observations.inputs(observations, rows, inputs)
        return inputs


def _apart(size: int, dtype: type[Any]) -> NDArray[Any]:
    # Two lanes that write to one cache line take it from each other at every write; measured: 60 % more time.
    margin = 32
    return np.zeros(size + 2 * margin, dtype)[margin : margin + size]


class CompiledNetwork:
    """Acts and computes gradients over a lane a thread; the number of lanes changes results only by rounding."""

    def __init__(self, policy: Policy, num_envs: int, threads: int) -> None:
        self.policy = policy
        self.threads = threads
        self.state = policy.initial_state(num_envs)
        self.gradients = torch.zeros_like(policy.flat)
        self._sgemm = find_sgemm()
        plan = Plan(policy)
        self._flat = policy.flat.numpy()
        self._tables = (plan.actor, plan.critic, plan.action_head, plan.value_head)
        self._activation = ACTIVATIONS[policy.config.activation]
        self._lanes = [Lane(policy, plan) for _ in range(threads)]
        self._offsets = policy.actions.offsets.copy()
        self._offsets[-1] = plan.padded  # the padding belongs to the last head, where its bias makes it impossible
        self._bias = np.full(plan.padded, MASKED)
        self._policy_bias = policy.action_head.bias.detach().numpy()
        # The lanes are the threads: a matrix product that started its own would fight them for the cores (measured: ten
        # times slower). The number is kept for each thread, so each lane sets it.
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(max(1, threads - 1), "lane", initializer=torch.set_num_threads, initargs=(1,))

    def act(
        self,
        observations: NDArray[Any],
        starts: Flags,
        masks: Flags,
        streams: Streams,
        indices: NDArray[np.int32],
        log_probs: Floats,
        values: Floats,
    ) -> None:
        """Draw an action for every environment; writes the last three."""
        self._bias[: len(self._policy_bias)] = self._policy_bias

        def act(lane: Lane, rows: Rows) -> None:
            here = slice(rows[0], rows[-1] + 1)
            _act(
                self._sgemm,
                *self._tables,
                self._activation,
                self._flat,
                lane.work,
                lane.inputs_of(self.policy, observations, rows),
                self._bias,
                masks[here] if len(masks) else masks,
                self._offsets,
                streams[here],
                indices[here],
                log_probs[here],
                values[here],
            )

        self._spread(act, np.arange(len(observations)))

    def values(self, observations: NDArray[Any], envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""
        values = np.empty(len(observations), np.float32)
        nothing = np.empty(0, np.float32)

        def evaluate(lane: Lane, rows: Rows) -> None:
            _act(
                self._sgemm,
                *self._tables,
                self._activation,
                self._flat,
                lane.work,
                lane.inputs_of(self.policy, observations, rows),
                self._bias,
                np.empty((0, 0), np.bool_),
                self._offsets,
                np.empty(0, np.uint64),
                np.empty((0, 1), np.int32),
                nothing,
                values[rows[0] : rows[-1] + 1],
            )

        self._spread(evaluate, np.arange(len(observations)))
        return values

    def evaluate(self, rollout: Rollout, memory: torch.Tensor) -> tuple[Floats, Floats]:
        """Return log-probabilities (T, N) of a rollout's choices and values (T + 1, N) under the present weights."""
        self._bias[: len(self._policy_bias)] = self._policy_bias
        steps, num_envs = rollout.steps, rollout.num_envs
        size = steps * num_envs
        observations = rollout.observations.reshape(size + num_envs, -1)
        indices = rollout.indices.reshape(size, -1)
        masks = rollout.masks.reshape(size if len(rollout.masks) else 0, rollout.masks.shape[-1])
        log_probs, values = np.empty(size, np.float32), np.empty(size + num_envs, np.float32)

        def evaluate(lane: Lane, rows: Rows) -> None:
            here = slice(rows[0], rows[-1] + 1)
            _evaluate(
                self._sgemm,
                *self._tables,
                self._activation,
                self._flat,
                lane.work,
                lane.inputs_of(self.policy, observations, rows),
                self._bias,
                masks[here] if len(masks) else masks,
                self._offsets,
                indices[here],
                log_probs[here],
                values[here],
            )

        self._spread(evaluate, np.arange(size))
        values[size:] = self.values(observations[size:], np.arange(num_envs))
        return log_probs.reshape(steps, num_envs), values.reshape(steps + 1, num_envs)

    def gradient(self, batch: Batch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`."""
        self._bias[: len(self._policy_bias)] = self._policy_bias
        share = 1.0 / len(rows)
        numbers = tuple(np.float32(x) for x in (*terms, share))

        def learn(lane: Lane, part: Rows) -> None:
            _learn(
                self._sgemm,
                *self._tables,
                self._activation,
                self._flat,
                lane.work,
                lane.inputs_of(self.policy, batch.observations, part),
                self._bias,
                lane.gradients,
                lane.bias_gradient,
                lane.weights,
                lane.heads,
                lane.sums,
                part,
                batch.indices,
                batch.masks,
                batch.log_probs,
                batch.values,
                batch.advantages,
                batch.returns,
                self._offsets,
                *numbers,
            )

        used = self._lanes[: self._spread(learn, rows)]
        np.copyto(self.gradients.numpy(), used[0].gradients)
        sums = used[0].sums.copy()
        for lane in used[1:]:
            self.gradients += torch.from_numpy(lane.gradients)
            sums += lane.sums
        return Means(*(float(x) * share for x in sums))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _spread(self, work: Callable[[Lane, Rows], None], rows: Rows) -> int:
        """Let every lane work on its share of the rows; return how many lanes had one."""
        used = max(1, min(self.threads, len(rows) // SMALLEST_SHARE))
        parts = np.array_split(rows, used)
        others = [self._pool.submit(work, lane, part) for lane, part in zip(self._lanes[1:], parts[1:], strict=False)]
        work(self._lanes[0], parts[0])
        for other in others:
            other.result()
        return used
