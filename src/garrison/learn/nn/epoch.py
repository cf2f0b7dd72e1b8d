"""Epochs: for each minibatch its gradient and a step of Adam.

`one_by_one` does it through Python, for every network. `learn_epoch` is each thread's part of the same in compiled
code, from the first minibatch to the last: the threads share a minibatch's samples, and then its parameters.
"""

from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.learn.nn.adam import Adam, Numbers, move, shortening
from garrison.learn.nn.groups import Groups, gather_groups, part_of
from garrison.learn.nn.groups import Numbers as GroupNumbers
from garrison.learn.nn.loss import Means, Rows, Samples, Terms, normalisation
from garrison.learn.nn.meeting import Meeting, meet
from garrison.learn.nn.passes import Net, learn
from garrison.learn.nn.plan import Scratch, Seen
from garrison.learn.rollout import TrainingBatch

if TYPE_CHECKING:
    from garrison.learn.nn.network import Network

Floats = NDArray[np.float32]

SQUARES = len(Means._fields)
"""The place of a gradient's squares behind the parts of the loss."""
SMALLEST_SHARE = 128
"""Fewer rows per thread are not worth waking it."""
SMALLEST_PART = 8
"""Fewer groups per thread are not worth sharing; threads are awake, and add their gradients, in any case."""
GROUP = 32
"""A group's way through the network takes as long as the loss of this many members."""


class Stride(NamedTuple):
    """How far a minibatch moves the parameters."""

    learning_rate: float
    max_norm: float
    normalises: bool
    """Whether the advantages of each minibatch are normalised."""


class Step(NamedTuple):
    """What a minibatch did: the parts of its loss, and the length of its gradient."""

    means: Means
    norm: float

    @property
    def is_finite(self) -> bool:
        """Whether learning may go on."""
        return isfinite(sum(self.means, self.norm))


def one_by_one(
    network: "Network", batch: TrainingBatch, minibatches: list[Rows], terms: Terms, adam: Adam, stride: Stride
) -> list[Step]:
    """Learn from each minibatch in turn, until something is not finite."""
    steps: list[Step] = []
    for rows in minibatches:
        if stride.normalises:
            mean, scale = normalisation(batch.advantages[rows][batch.counted.reshape(-1)[rows]])
            terms = terms._replace(advantage_mean=mean, advantage_scale=scale)
        means = network.gradient(batch, rows, terms)
        steps.append(Step(means, adam.step(network.gradients, stride.learning_rate, stride.max_norm)))
        if not steps[-1].is_finite:
            break
    return steps


class Course(NamedTuple):
    """What all threads share, of one epoch or several."""

    order: Rows
    """The samples, minibatch by minibatch."""
    borders: Rows
    """Where minibatches begin and end in it."""
    numbers: GroupNumbers
    """The group of each sample."""
    groups: Groups
    """Of every minibatch, written: where it begins in `order`, its members and heads begin too."""
    counts: Rows
    """(minibatches,): how many groups each has, written."""
    samples: Samples
    terms: Terms
    normalisers: Floats
    """(minibatches, 2): mean and scale of the advantages, written."""
    normalises: bool
    max_norm: float
    rates: Floats
    """(minibatches, 2): see `Adam.rate_and_root`."""
    betas: Floats
    """Adam's two, and its epsilon."""
    first: Floats
    second: Floats
    """Adam's moments."""
    gradient: Floats
    """Of all samples of a minibatch, written."""
    parts: Floats
    """(threads, at least parameters): the threads' own gradients."""
    sums: NDArray[np.float64]
    """(threads, 16): of each thread's samples the parts of the loss, in the order of `Means`, and of its part of the
    gradient the sum of squares; then nothing, so that no two threads share a cache line."""
    results: NDArray[np.float64]
    """(minibatches, 6): of each minibatch its `Means` and its gradient's length, written."""


@kernel
def share_of(groups: Groups, threads: int, me: int) -> Groups:
    """Return thread `me`'s part of the groups, in parts that take about the same time."""
    used = max(1, min(threads, groups.heads.shape[0] // SMALLEST_PART))
    begin, end = _border(groups.borders, min(me, used), used), _border(groups.borders, min(me + 1, used), used)
    return part_of(groups, begin, end)


@kernel
def _border(borders: Rows, part: int, parts: int) -> int:
    """Return how many groups come before a part."""
    groups = borders.shape[0] - 1
    time = (GROUP * groups + borders[groups]) * part
    few, many = 0, groups
    while few < many:
        middle = (few + many) // 2
        if (GROUP * middle + borders[middle]) * parts < time:
            few = middle + 1
        else:
            many = middle
    return few


@kernel(fastmath=True)
def _normaliser(advantages: Floats, rows: Rows) -> tuple[np.float32, np.float32]:
    """Return what gives the advantages of these rows mean 0 and deviation 1."""
    mean = 0.0
    for i in rows:
        mean += np.float64(advantages[i])
    mean /= rows.shape[0]
    variance = 0.0
    for i in rows:
        variance += (np.float64(advantages[i]) - mean) ** 2
    return np.float32(mean), np.float32(1.0 / (np.sqrt(variance / rows.shape[0]) + 1e-8))


@kernel
def _groups_of(course: Course, number: int) -> Groups:
    """Return where the groups of a minibatch are written, with room for as many as it has samples."""
    begin, end = course.borders[number], course.borders[number + 1]
    members, heads, borders = course.groups
    return Groups(members[begin:end], heads[begin:end], borders[begin + number : end + number + 1])


@kernel
def _prepare(course: Course, threads: int, me: int) -> None:
    """Group the samples of every minibatch that is thread `me`'s to prepare, and normalise its advantages."""
    places = np.full(course.numbers.shape[0], -1, np.int32)
    for number in range(me, course.rates.shape[0], threads):
        rows = course.order[course.borders[number] : course.borders[number + 1]]
        course.counts[number] = gather_groups(rows, course.numbers, places, _groups_of(course, number))
        if course.normalises:
            course.normalisers[number] = _normaliser(course.samples.advantages, rows)


@kernel(fastmath=True)
def _add_parts(parts: Floats, begin: int, end: int, gradient: Floats) -> float:
    """Write the sum of the threads' gradients from `begin` to `end`, in their order; return the sum of its squares."""
    gradient[:] = parts[0, begin:end]
    for other in range(1, parts.shape[0]):
        part = parts[other, begin:end]
        for j in range(gradient.shape[0]):
            gradient[j] += part[j]
    squares = 0.0
    for j in range(gradient.shape[0]):
        squares += np.float64(gradient[j]) * np.float64(gradient[j])
    return squares


@kernel(cached=True)
def learn_epoch(sgemm: Any, net: Net, seen: Seen, course: Course, scratch: Scratch, meeting: Meeting, me: int) -> None:
    """Do thread `me`'s part of every minibatch, until something is not finite or another thread has given up."""
    threads, size = meeting.threads, net.flat.shape[0]
    begin, end = size * me // threads, size * (me + 1) // threads
    beta1, beta2, epsilon = course.betas
    clip, value_clip, value_coef, entropy_coef, _, _ = course.terms
    _prepare(course, threads, me)
    if not meet(meeting, me):
        return
    for number in range(course.rates.shape[0]):
        share = 1.0 / (course.borders[number + 1] - course.borders[number])
        mean, scale = course.normalisers[number]
        terms = Terms(clip, value_clip, value_coef, entropy_coef, mean, scale)
        mine = share_of(part_of(_groups_of(course, number), 0, course.counts[number]), threads, me)
        learn(sgemm, net, seen, mine, course.samples, terms, np.float32(share), scratch)
        course.sums[me, :SQUARES] = scratch.sums
        if not meet(meeting, me):
            return
        # From here on, a thread has a part of the parameters instead of samples.
        course.sums[me, SQUARES] = _add_parts(course.parts, begin, end, course.gradient[begin:end])
        if not meet(meeting, me):
            return
        result = np.zeros(SQUARES + 1)
        for other in range(threads):
            result += course.sums[other, : SQUARES + 1]
        norm = np.sqrt(result[SQUARES])
        if me == 0:
            course.results[number, :SQUARES] = result[:SQUARES] * share
            course.results[number, SQUARES] = norm
        if not np.isfinite(result).all():
            return
        shortened = np.float32(shortening(norm, course.max_norm))
        numbers = Numbers(shortened, course.rates[number, 0], course.rates[number, 1], beta1, beta2, epsilon)
        first, second = course.first[begin:end], course.second[begin:end]
        move(net.flat[begin:end], course.gradient[begin:end], first, second, numbers)
        if not meet(meeting, me):
            return
