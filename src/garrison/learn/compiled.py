"""A feed-forward network computed by hand: matrix products through torch's BLAS, everything between them compiled.

Torch's autograd passes over the 145 logits of a sample a dozen times, and every pass goes through memory. Here a
minibatch is split over threads (a lane each), and a lane works through its part in chunks that stay in the core's
cache: inputs, forward, one pass for loss and gradient, backward. The matrix products are single-threaded; they and the
compiled passes release Python's lock, so the lanes run side by side. Tested against `AutogradNetwork`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from garrison.jit import kernel
from garrison.learn.arithmetic import tanh
from garrison.learn.loss import Means, Rows, Terms, ppo_gradient
from garrison.learn.policy import Policy, Tower, views
from garrison.learn.rollout import Batch
from garrison.learn.sampling import Streams, draw

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

CHUNK = 1024  # samples a lane works on at once: their 145 logits are 0.6 MB, within a second-level cache
SMALLEST_SHARE = 128  # fewer rows a lane are not worth waking a thread


@kernel(cached=True, fastmath=True)
def _tanh_forward(z: Floats, bias: Floats) -> None:
    """Add the bias and apply tanh, in place."""
    for i in range(z.shape[0]):
        row = z[i]
        for j in range(row.shape[0]):
            row[j] = tanh(row[j] + bias[j])


@kernel(cached=True, fastmath=True)
def _tanh_backward(delta: Floats, output: Floats, bias_gradient: Floats) -> None:
    """Turn the gradient of tanh's output into that of its input, in place; add its sum to the bias's gradient."""
    for i in range(delta.shape[0]):
        row, out = delta[i], output[i]
        for j in range(row.shape[0]):
            row[j] *= np.float32(1.0) - out[j] * out[j]
            bias_gradient[j] += row[j]


@kernel(cached=True, fastmath=True)
def _relu_forward(z: Floats, bias: Floats) -> None:
    """Add the bias and apply relu, in place."""
    for i in range(z.shape[0]):
        row = z[i]
        for j in range(row.shape[0]):
            row[j] = max(row[j] + bias[j], np.float32(0.0))


@kernel(cached=True, fastmath=True)
def _relu_backward(delta: Floats, output: Floats, bias_gradient: Floats) -> None:
    """Turn the gradient of relu's output into that of its input, in place; add its sum to the bias's gradient."""
    for i in range(delta.shape[0]):
        row, out = delta[i], output[i]
        for j in range(row.shape[0]):
            row[j] = row[j] if out[j] > np.float32(0.0) else np.float32(0.0)
            bias_gradient[j] += row[j]


KERNELS: dict[str, tuple[Any, Any]] = {
    "tanh": (_tanh_forward, _tanh_backward),
    "relu": (_relu_forward, _relu_backward),
}


class LaneTower:
    """One lane's buffers for a tower: outputs and gradients of every hidden layer."""

    def __init__(self, tower: Tower, gradients: dict[int, Tensor], inputs: Tensor, activation: str) -> None:
        self.forward_kernel, self.backward_kernel = KERNELS[activation]
        layers = [layer for layer in tower.layers if isinstance(layer, nn.Linear)]
        self.weights = [layer.weight.detach() for layer in layers]
        self.biases = [layer.bias.detach().numpy() for layer in layers]
        self.weight_gradients = [gradients[id(layer.weight)] for layer in layers]
        self.bias_gradients = [gradients[id(layer.bias)].numpy() for layer in layers]
        self.outputs = [inputs] + [torch.empty(len(inputs), len(weight)) for weight in self.weights]
        self.deltas = [torch.empty_like(output) for output in self.outputs]

    def forward(self, n: int) -> Tensor:
        """Return the features of the first `n` inputs."""
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            output = self.outputs[layer + 1][:n]
            torch.mm(self.outputs[layer][:n], weight.T, out=output)
            self.forward_kernel(output.numpy(), bias)
        return self.outputs[-1][:n]

    def backward(self, n: int) -> None:
        """Add the gradients of weights and biases, given those of the features in `deltas[-1]`."""
        for layer in range(len(self.weights), 0, -1):
            delta = self.deltas[layer][:n]
            self.backward_kernel(delta.numpy(), self.outputs[layer][:n].numpy(), self.bias_gradients[layer - 1])
            self.weight_gradients[layer - 1].addmm_(delta.T, self.outputs[layer - 1][:n])
            if layer > 1:
                torch.mm(delta, self.weights[layer - 1], out=self.deltas[layer - 1][:n])


class Lane:
    """What one thread needs to act and to learn: buffers for a chunk and a gradient of its own."""

    def __init__(self, policy: Policy, flat_gradients: Tensor) -> None:
        self.policy = policy
        self.flat_gradients = flat_gradients
        names = map(id, policy.parameters())
        gradients = dict(zip(names, views(flat_gradients, policy), strict=True))
        self.inputs = torch.empty(CHUNK, policy.observations.size)
        self.logits = torch.empty(CHUNK, policy.actions.size)
        self.values = torch.empty(CHUNK, 1)
        activation = policy.config.activation
        self.actor = LaneTower(policy.actor, gradients, self.inputs, activation)
        shared = policy.critic is policy.actor
        self.critic = self.actor if shared else LaneTower(policy.critic, gradients, self.inputs, activation)
        self.action_weight = policy.action_head.weight.detach()
        self.value_weight = policy.value_head.weight.detach()
        self.action_bias = policy.action_head.bias.detach().numpy()
        self.value_bias = policy.value_head.bias.detach().numpy()
        self.action_weight_gradient = gradients[id(policy.action_head.weight)]
        self.value_weight_gradient = gradients[id(policy.value_head.weight)]
        self.action_bias_gradient = gradients[id(policy.action_head.bias)].numpy()
        self.value_bias_gradient = gradients[id(policy.value_head.bias)].numpy()
        self.sums = np.zeros(len(Means._fields))
        self._weights = np.empty(policy.actions.size, np.float32)
        self._head_entropies = np.empty(policy.actions.heads, np.float32)

    def critic_forward(self, observations: NDArray[Any], rows: Rows) -> Tensor:
        """Return values without their bias."""
        n = len(rows)
        self.policy.observations.inputs(observations, rows, self.inputs[:n].numpy())
        return torch.mm(self.critic.forward(n), self.value_weight.T, out=self.values[:n])

    def forward(self, observations: NDArray[Any], rows: Rows) -> tuple[Tensor, Tensor]:
        """Return logits and values, both without their bias."""
        n = len(rows)
        values = self.critic_forward(observations, rows)
        features = self.critic.outputs[-1][:n] if self.critic is self.actor else self.actor.forward(n)
        return torch.mm(features, self.action_weight.T, out=self.logits[:n]), values

    def learn(self, batch: Batch, rows: Rows, terms: Terms, share: float) -> None:
        """Add the gradient over the samples `rows` to this lane's, and the parts of the loss to `sums`."""
        self.flat_gradients.zero_()
        self.sums[:] = 0.0
        numbers = tuple(np.float32(x) for x in (*terms, share))
        for begin in range(0, len(rows), CHUNK):
            part = rows[begin : begin + CHUNK]
            logits, values = self.forward(batch.observations, part)
            ppo_gradient(
                logits.numpy(),
                self.action_bias,
                values.numpy(),
                self.value_bias,
                part,
                batch.indices,
                batch.masks,
                batch.log_probs,
                batch.values,
                batch.advantages,
                batch.returns,
                self.policy.actions.offsets,
                *numbers,
                self._weights,
                self._head_entropies,
                self.action_bias_gradient,
                self.value_bias_gradient,
                self.sums,
            )
            self._backward(len(part), logits, values)

    def _backward(self, n: int, logits: Tensor, values: Tensor) -> None:
        self.action_weight_gradient.addmm_(logits.T, self.actor.outputs[-1][:n])
        self.value_weight_gradient.addmm_(values.T, self.critic.outputs[-1][:n])
        torch.mm(logits, self.action_weight, out=self.actor.deltas[-1][:n])
        if self.critic is self.actor:
            self.actor.deltas[-1][:n].addmm_(values, self.value_weight)
        else:
            torch.mm(values, self.value_weight, out=self.critic.deltas[-1][:n])
            self.critic.backward(n)
        self.actor.backward(n)


class CompiledNetwork:
    """Acts and computes gradients over a lane a thread; the result depends on the number of lanes only by rounding."""

    def __init__(self, policy: Policy, num_envs: int, threads: int) -> None:
        self.policy = policy
        self.threads = threads
        self.state = policy.initial_state(num_envs)
        lane_gradients = torch.zeros(threads, len(policy.flat))
        self.gradients = torch.zeros_like(policy.flat)
        self._lane_gradients = lane_gradients
        self._lanes = [Lane(policy, lane_gradients[k]) for k in range(threads)]
        # The lanes are the threads: a matrix product that started its own would fight them for the cores.
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

        def act(lane: Lane, rows: Rows) -> None:
            for begin in range(0, len(rows), CHUNK):
                part = rows[begin : begin + CHUNK]
                here = slice(part[0], part[-1] + 1)
                logits, computed = lane.forward(observations, part)
                allowed = masks[here] if len(masks) else masks
                draw(
                    logits.numpy(),
                    lane.action_bias,
                    allowed,
                    self.policy.actions.offsets,
                    streams[here],
                    indices[here],
                    log_probs[here],
                )
                np.add(computed.numpy()[:, 0], lane.value_bias, out=values[here])

        self._spread(act, np.arange(len(observations)))

    def values(self, observations: NDArray[Any], envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""
        values = np.empty(len(observations), np.float32)

        def evaluate(lane: Lane, rows: Rows) -> None:
            for begin in range(0, len(rows), CHUNK):
                part = rows[begin : begin + CHUNK]
                computed = lane.critic_forward(observations, part).numpy()[:, 0]
                np.add(computed, lane.value_bias, out=values[part[0] : part[-1] + 1])

        self._spread(evaluate, np.arange(len(observations)))
        return values

    def gradient(self, batch: Batch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`."""
        share = 1.0 / len(rows)
        used = self._spread(lambda lane, part: lane.learn(batch, part, terms, share), rows)
        torch.sum(self._lane_gradients[:used], dim=0, out=self.gradients)
        sums = sum(lane.sums for lane in self._lanes[:used])
        return Means(*(float(x) * share for x in np.asarray(sums)))

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
