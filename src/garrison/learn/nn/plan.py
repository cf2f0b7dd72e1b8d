"""Where everything lies for the compiled network: layer tables, and the memory that each thread writes to."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.learn.nn.arithmetic import MASKED
from garrison.learn.nn.bits import Bits
from garrison.learn.nn.clock import make_clock
from garrison.learn.nn.layers import Column, Floats, Table
from garrison.learn.nn.loss import Means, Rows
from garrison.learn.nn.parameters import layer_name
from garrison.learn.nn.policy import Policy
from garrison.learn.spaces.observations import BitsForm, ObservationForm

CHUNK = 256
"""Samples that a thread works on at once: few enough for its core's second-level cache."""
VECTOR = 32
"""Logits are padded to a multiple of this, so that compiled passes over them have no leftover columns."""
CACHE_LINE = 64  # bytes
CACHE_LINE_MARGIN = 32
"""Numbers between what two threads write: threads that write to one cache line take it from each other at every write
(measured: 60 % more time)."""


class LayerPlan:
    """A table per tower and per head of where its parameters and its activations lie; see `layers.Column`."""

    def __init__(self, policy: Policy) -> None:
        self._places = policy.places()
        self.workspace_size = 0  # in floats
        self.turned_size = 0  # in floats
        inputs = self._reserve(policy.observations.size)
        layers = len(policy.config.hidden)
        # The extra inputs of a critic stand behind those of the actor, which leaves them out.
        size = policy.observations.size
        self.actor, features, dfeatures = self._tower("actor", layers, inputs, size)
        self.padded_outputs = -(-policy.actions.outputs // VECTOR) * VECTOR
        x_width = 0 if layers else size
        self.action_head = self._layer("action_head", features, dfeatures, self.padded_outputs, x_width)
        self.critic = self.actor[:0]
        if policy.critic is not policy.actor:
            self.critic, features, dfeatures = self._tower("critic", layers, inputs, size)
        self.value_head = self._layer("value_head", features, dfeatures)
        # A head's outputs are replaced by their gradient, in place.
        for head in (self.action_head, self.value_head):
            head[Column.DY] = head[Column.Y]

    def _reserve(self, width: int) -> int:
        """Reserve workspace for a chunk of rows this wide; return where it begins."""
        begin = self.workspace_size
        self.workspace_size += CHUNK * width
        return begin

    def _tower(self, name: str, layers: int, x: int, x_width: int) -> tuple[Table, int, int]:
        rows, dx = [], -1  # nobody needs the gradient of the network's inputs
        for number in range(layers):
            rows.append(self._layer(layer_name(name, number), x, dx, x_width=x_width))
            if number == 0:
                rows[0][Column.TURNED] = self.turned_size
                self.turned_size += rows[0][Column.INPUTS] * rows[0][Column.OUTPUTS]
            x, dx, x_width = rows[-1][Column.Y], rows[-1][Column.DY], 0
        return np.array(rows, np.int64).reshape(len(rows), len(Column)), x, dx

    def _layer(self, name: str, x: int, dx: int, width: int = 0, x_width: int = 0) -> Table:
        weight, bias = self._places[f"{name}.weight"], self._places[f"{name}.bias"]
        outputs, inputs = weight.shape
        width = width or outputs
        y, dy = self._reserve(width), self._reserve(width)
        x_width = x_width or inputs
        return np.array([weight.begin, bias.begin, inputs, outputs, width, x, y, dx, dy, x_width, -1], np.int64)


class Scratch(NamedTuple):
    """What one thread writes to while it works."""

    work: Floats
    """Activations and their gradients of one chunk of samples."""
    gradients: Floats
    """Of all parameters, over the thread's part of a minibatch."""
    turned: Floats
    """The weights of the towers' first layers, transposed; see `bits`."""
    turned_gradients: Floats
    """Their gradients, likewise."""
    columns: NDArray[np.int32]
    """See `bits.Ones`."""
    ends: Rows
    """See `bits.Ones`."""
    bias: Floats
    """The action head's biases; the padding's make it impossible."""
    bias_gradient: Floats
    """Of the action head's biases, padded."""
    weights: Floats
    """See `loss.LossScratch`."""
    pulls: Floats
    """See `loss.LossScratch`."""
    heads: Floats
    """See `loss.LossScratch`."""
    sums: NDArray[np.float64]
    """The parts of the loss, in the order of `Means`."""


class Seen(NamedTuple):
    """What a pass reads its observations from; the other of the two is empty."""

    bits: Bits
    """Of all observations, packed; which of them are meant is said by their rows."""
    inputs: Floats
    """The network inputs of the observations that are meant."""


NO_BITS = np.empty((0, 0), np.uint8)
NO_INPUTS = np.empty((0, 0), np.float32)


def make_gradients(threads: int, parameters: int) -> Floats:
    """Return a row for the gradient of each thread: as long as the parameters, and some more."""
    width = -(-(parameters + CACHE_LINE_MARGIN) // CACHE_LINE_MARGIN) * CACHE_LINE_MARGIN
    return _zeros(threads * width, np.float32).reshape(threads, width)


class ThreadWorkspace:
    """The memory of one thread."""

    def __init__(self, form: ObservationForm, plan: LayerPlan, gradients: Floats, heads: int) -> None:
        self._form = form
        self.clock = make_clock()
        self._inputs = np.empty((0, form.size), np.float32)
        is_bits = type(form) is BitsForm
        places = CHUNK * form.size + 8 if is_bits else 0
        self.scratch = Scratch(
            work=_zeros(plan.workspace_size, np.float32),
            gradients=gradients,
            turned=_zeros(plan.turned_size if is_bits else 0, np.float32),
            turned_gradients=_zeros(plan.turned_size if is_bits else 0, np.float32),
            columns=_zeros(places, np.int32),
            ends=_zeros(CHUNK, np.int64),
            bias=_zeros(plan.padded_outputs, np.float32),
            bias_gradient=_zeros(plan.padded_outputs, np.float32),
            weights=_zeros(plan.padded_outputs, np.float32),
            pulls=_zeros(plan.padded_outputs, np.float32),
            heads=_zeros(3 * heads, np.float32).reshape(-1, 3),
            sums=_zeros(len(Means._fields), np.float64),
        )
        self.scratch.bias[:] = MASKED

    def see(self, observations: NDArray[Any], rows: Rows) -> Seen:
        """Return what a pass reads the stored observations `rows` from, in memory that grows as needed."""
        if type(self._form) is BitsForm:
            return Seen(observations, NO_INPUTS)
        if len(self._inputs) < len(rows):
            self._inputs = np.empty((len(rows), self._form.size), np.float32)
        inputs = self._inputs[: len(rows)]
        self._form.inputs(observations, rows, inputs.reshape(len(rows), *self._form.input_shape))
        return Seen(NO_BITS, inputs)


def _zeros(size: int, dtype: type[Any]) -> NDArray[Any]:
    """Return memory that begins at a cache line: the order in which BLAS sums may depend on where memory begins."""
    memory = np.zeros(size + 3 * CACHE_LINE_MARGIN, dtype)
    begin = CACHE_LINE_MARGIN + -memory.ctypes.data % CACHE_LINE // memory.itemsize
    return memory[begin : begin + size]
