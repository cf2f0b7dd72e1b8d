"""Samples that show the network the same: it answers them alike, so it is asked once for all of them.

CAGE-2 shows few different observations: a batch of 102,400 samples has about 1,400 of them, a minibatch of 12,800
about 1,000. The samples of a group have the same bits, and the same mask where there are any. So their logits and
their value are the same, and the sum of their gradients goes back through the network: what each sample on its own
would give, but for the rounding of sums.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.learn.nn.bits import Bits, Rows

Numbers = NDArray[np.int32]
Flags = NDArray[np.bool_]

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_WORD = 8  # bytes


class Groups(NamedTuple):
    """Some samples, group by group."""

    members: Rows
    """The samples; those of a group side by side."""
    heads: Rows
    """The first member of each group."""
    borders: Rows
    """Where each group begins in `members`, and where the last one ends."""


@kernel
def singles(rows: Rows) -> Groups:
    """Return every sample as a group of its own."""
    return Groups(rows, rows, np.arange(rows.shape[0] + 1))


@kernel
def part_of(groups: Groups, begin: int, end: int) -> Groups:
    """Return the groups from `begin` to `end`."""
    return Groups(groups.members, groups.heads[begin:end], groups.borders[begin : end + 1])


def number_groups(bits: Bits, masks: Flags) -> Numbers:
    """Return the number of each sample's group; groups are numbered in the order of their first samples."""
    numbers = np.empty(len(bits), np.int32)
    with np.errstate(over="ignore"):
        _number_groups(bits, masks.view(np.uint8), numbers)
    return numbers


@kernel
def _hash(mixed: np.uint64, row: Bits) -> np.uint64:
    for begin in range(0, row.shape[0], _WORD):
        word = np.uint64(0)
        for b in range(begin, min(begin + _WORD, row.shape[0])):
            word = (word << np.uint64(8)) | np.uint64(row[b])
        mixed = (mixed ^ word) * _PRIME
        mixed ^= mixed >> np.uint64(32)
    return mixed


@kernel
def _is_same(a: Bits, b: Bits) -> bool:
    different = np.uint8(0)
    for j in range(a.shape[0]):
        different |= a[j] ^ b[j]
    return bool(different == 0)


@kernel(cached=True)
def _number_groups(bits: Bits, masks: Bits, numbers: Numbers) -> None:
    """Number the rows of `bits`, and of `masks` where there are any, so that equal ones have the same number."""
    size = 2
    while size < 2 * bits.shape[0]:
        size *= 2
    table = np.full(size, -1, np.int32)  # numbers of groups, at the place that their hash gives or behind it
    firsts = np.empty(bits.shape[0], np.int64)
    count = 0
    for i in range(bits.shape[0]):
        mixed = _hash(_PRIME, bits[i])
        if masks.shape[0]:
            mixed = _hash(mixed, masks[i])
        place = np.int64(mixed & np.uint64(size - 1))
        while True:
            number = table[place]
            if number < 0:
                number = np.int32(count)
                table[place] = number
                firsts[count] = i
                count += 1
                break
            first = firsts[number]
            if _is_same(bits[first], bits[i]) and (masks.shape[0] == 0 or _is_same(masks[first], masks[i])):
                break
            place = (place + 1) & (size - 1)
        numbers[i] = number


@kernel
def group_equal(bits: Bits, masks: Flags) -> Groups:
    """Return the rows of `bits` in groups of equal ones, whose masks are equal too."""
    n = bits.shape[0]
    numbers = np.empty(n, np.int32)
    _number_groups(bits, masks.view(np.uint8), numbers)
    groups = Groups(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64))
    count = gather_groups(np.arange(n), numbers, np.full(n, -1, np.int32), groups)
    return part_of(groups, 0, count)


@kernel
def gather_groups(rows: Rows, numbers: Numbers, places: Numbers, groups: Groups) -> int:
    """Write the samples `rows` group by group, groups and members in the order of their first; return the groups.

    `places` has room for every number, and holds -1 before and after.
    """
    members, heads, borders = groups
    borders[0] = 0
    count = 0
    for i in rows:
        k = places[numbers[i]]
        if k < 0:
            k = np.int32(count)
            places[numbers[i]] = k
            heads[k] = i
            borders[k + 1] = 0
            count += 1
        borders[k + 1] += 1
    begin = 0
    for k in range(count):
        size = borders[k + 1]
        borders[k + 1] = begin  # until its members have moved it to their end
        begin += size
    for i in rows:
        k = places[numbers[i]]
        members[borders[k + 1]] = i
        borders[k + 1] += 1
    for k in range(count):
        places[numbers[heads[k]]] = -1
    return count
