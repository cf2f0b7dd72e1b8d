"""Forward and backward passes of dense layers over flat memory, compiled.

A tower is a table with a row for each layer. Parameters and gradients are places in one flat vector each, activations
and their gradients places in a thread's workspace, `n` samples high.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.learn.nn.arithmetic import tanh
from garrison.learn.nn.blas import Blas, Sizes, add_weight_slopes, input_slopes, outputs_of

Floats = NDArray[np.float32]
Table = NDArray[np.int64]


class _Column(NamedTuple):
    """What the columns of a layer table mean."""

    WEIGHT: int = 0  # where its weights begin in the flat parameters: (outputs, inputs)
    BIAS: int = 1  # where its biases begin
    INPUTS: int = 2
    OUTPUTS: int = 3
    WIDTH: int = 4  # outputs with padding
    X: int = 5  # where its inputs begin in the workspace
    Y: int = 6  # where its outputs begin
    DX: int = 7  # where the gradient of its inputs begins; -1 if nobody needs it
    DY: int = 8  # where the gradient of its outputs begins
    X_WIDTH: int = 9  # numbers from one row of its inputs to the next
    TURNED: int = 10  # where its transposed weights begin in a thread's memory; -1 if it has none


Column = _Column()
TANH, RELU = 0, 1
ACTIVATIONS = {"tanh": TANH, "relu": RELU}


@kernel(fastmath=True)
def _activate(y: Floats, bias: Floats, activation: int) -> None:
    """Add the bias and apply the activation, in place."""
    for i in range(y.shape[0]):
        row = y[i]
        if activation == TANH:
            for j in range(row.shape[0]):
                row[j] = tanh(row[j] + bias[j])
        else:
            for j in range(row.shape[0]):
                row[j] = max(row[j] + bias[j], np.float32(0.0))


@kernel(fastmath=True)
def _deactivate(dy: Floats, y: Floats, dbias: Floats, activation: int) -> None:
    """Turn the gradient of the activation's output into that of its input, in place; add its sums to `dbias`."""
    for i in range(dy.shape[0]):
        slopes, row = dy[i], y[i]
        if activation == TANH:
            for j in range(row.shape[0]):
                slopes[j] *= np.float32(1.0) - row[j] * row[j]
                dbias[j] += slopes[j]
        else:
            for j in range(row.shape[0]):
                slopes[j] = slopes[j] if row[j] > np.float32(0.0) else np.float32(0.0)
                dbias[j] += slopes[j]


@kernel
def linear_forward(blas: Blas, layer: Table, flat: Floats, work: Floats, n: int) -> None:
    """Compute a layer's outputs without bias and activation."""
    sizes = Sizes(n, layer[Column.INPUTS], layer[Column.OUTPUTS], layer[Column.X_WIDTH])
    x, y, weight = work[layer[Column.X] :], work[layer[Column.Y] :], flat[layer[Column.WEIGHT] :]
    outputs_of(blas, sizes, x, weight, y, layer[Column.WIDTH])


@kernel
def linear_backward(
    blas: Blas, layer: Table, flat: Floats, gradients: Floats, work: Floats, n: int, beta: float
) -> None:
    """Add the gradient of a layer's weights, and pass the gradient on to its inputs (added there if beta is 1)."""
    sizes = Sizes(n, layer[Column.INPUTS], layer[Column.OUTPUTS], layer[Column.X_WIDTH])
    width = layer[Column.WIDTH]
    x, dy = work[layer[Column.X] :], work[layer[Column.DY] :]
    add_weight_slopes(blas, sizes, dy, width, x, gradients[layer[Column.WEIGHT] :])
    if layer[Column.DX] >= 0:
        dx = work[layer[Column.DX] :]
        input_slopes(blas, sizes, dy, width, flat[layer[Column.WEIGHT] :], dx, beta)


@kernel
def tower_forward(
    blas: Blas, tower: Table, flat: Floats, work: Floats, n: int, activation: int, is_summed: bool
) -> None:
    """Compute the outputs of every layer; the first one's sums are there already if `is_summed`."""
    for number in range(tower.shape[0]):
        layer = tower[number]
        if number > 0 or not is_summed:
            linear_forward(blas, layer, flat, work, n)
        outputs = layer[Column.OUTPUTS]
        y = work[layer[Column.Y] : layer[Column.Y] + n * outputs].reshape(n, outputs)
        _activate(y, flat[layer[Column.BIAS] : layer[Column.BIAS] + outputs], activation)


@kernel
def tower_backward(
    blas: Blas, tower: Table, flat: Floats, gradients: Floats, work: Floats, n: int, activation: int, is_summed: bool
) -> None:
    """Add the gradients of every layer's weights and biases, given those of the last outputs.

    If `is_summed`, the gradient of the first layer's weights is left to who summed them.
    """
    for number in range(tower.shape[0] - 1, -1, -1):
        layer = tower[number]
        outputs = layer[Column.OUTPUTS]
        y = work[layer[Column.Y] : layer[Column.Y] + n * outputs].reshape(n, outputs)
        dy = work[layer[Column.DY] : layer[Column.DY] + n * outputs].reshape(n, outputs)
        _deactivate(dy, y, gradients[layer[Column.BIAS] : layer[Column.BIAS] + outputs], activation)
        if number > 0 or not is_summed:
            linear_backward(blas, layer, flat, gradients, work, n, 0.0)
