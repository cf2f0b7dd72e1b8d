"""The first layer for observations of bits: where few are set, their columns of the weights are added, not multiplied.

CAGE-2 shows about 4 ones among 52 bits. Adding 4 columns takes a fraction of a product with 52, and so does adding a
sample's slopes to 4 columns of the gradient. The weights are turned once for each call, so that a column is contiguous.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel

Floats = NDArray[np.float32]
Bits = NDArray[np.uint8]
Rows = NDArray[np.int64]

SPARSE = 4
"""Columns are added where at most one bit in this many is set: with more ones, a matrix product is faster."""

_BITS = (np.arange(256)[:, None] >> np.arange(8)) & 1
COUNT_OF_BYTE = _BITS.sum(axis=1)
PLACES_OF_BYTE = np.argsort(1 - _BITS, axis=1, kind="stable").astype(np.uint8)  # the ones first


class Ones(NamedTuple):
    """Which bits are set in the samples of a chunk."""

    columns: NDArray[np.int32]
    """One sample's after the other's; with room for eight more."""
    ends: Rows
    """Where each sample's end."""


@kernel
def list_ones(bits: Bits, rows: Rows, ones: Ones) -> int:
    """List the bits that are set in the samples `rows`; return how many they are."""
    columns = ones.columns
    count = 0
    for k in range(rows.shape[0]):
        for b in range(bits.shape[1]):
            byte = bits[rows[k], b]
            # Without a branch: what stands behind the byte's ones is overwritten by the next byte's.
            for j in range(8):
                columns[count + j] = np.int32(8 * b) + np.int32(PLACES_OF_BYTE[byte, j])
            count += COUNT_OF_BYTE[byte]
        ones.ends[k] = count
    return count


@kernel
def spread_ones(ones: Ones, x: Floats) -> None:
    """Write the samples as rows of zeros and ones."""
    x[:] = np.float32(0.0)
    begin = 0
    for k in range(x.shape[0]):
        for place in range(begin, ones.ends[k]):
            x[k, ones.columns[place]] = np.float32(1.0)
        begin = ones.ends[k]


@kernel
def turn(weights: Floats, turned: Floats) -> None:
    """Write the transpose of `weights`."""
    for i in range(turned.shape[0]):
        for j in range(turned.shape[1]):
            turned[i, j] = weights[j, i]


@kernel
def turn_back(turned: Floats, weights: Floats) -> None:
    """Add the transpose of `turned` to `weights`."""
    for j in range(weights.shape[0]):
        for i in range(weights.shape[1]):
            weights[j, i] += turned[i, j]


@kernel
def add_columns(ones: Ones, turned: Floats, y: Floats) -> None:
    """Write the sums of the columns of each sample's ones into the rows of `y`."""
    begin = 0
    for k in range(y.shape[0]):
        row = y[k]
        row[:] = np.float32(0.0)
        for place in range(begin, ones.ends[k]):
            column = turned[ones.columns[place]]
            for j in range(row.shape[0]):
                row[j] += column[j]
        begin = ones.ends[k]


@kernel
def add_slopes(ones: Ones, dy: Floats, turned: Floats) -> None:
    """Add the slopes of each sample to the columns of its ones."""
    begin = 0
    for k in range(dy.shape[0]):
        row = dy[k]
        for place in range(begin, ones.ends[k]):
            column = turned[ones.columns[place]]
            for j in range(row.shape[0]):
                column[j] += row[j]
        begin = ones.ends[k]
