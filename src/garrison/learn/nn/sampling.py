"""Draws actions: from logits by one random number per choice and a running sum over its probabilities, from normal
distributions by the transform of Box and Muller.

Each environment has its own stream of random numbers, seeded by the run's seed and the environment's place, so its
draws are the same in any batch, on any number of threads.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.learn.nn.arithmetic import MASKED, exp
from garrison.learn.nn.groups import Groups

Floats = NDArray[np.float32]
Streams = NDArray[np.uint64]  # one SplitMix64 state an environment

BLOCK = 16  # columns summed at once: a running sum over all would wait for one addition after the other

TAU = np.float32(2.0 * np.pi)
HALF_LOG_TAU = np.float32(0.5 * np.log(2.0 * np.pi))

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@kernel
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@kernel(cached=True)
def _seed(streams: Streams, seed: np.uint64, first: np.uint64) -> None:
    for i in range(streams.shape[0]):
        streams[i] = _mix(_mix(seed + _STEP) + (first + np.uint64(i)) * _STEP)


def make_streams(seed: int, num_envs: int, first: int = 0) -> Streams:
    """Return the streams of environments `first` to `first + num_envs` of a run."""
    streams = np.empty(num_envs, np.uint64)
    with np.errstate(over="ignore"):
        _seed(streams, np.uint64(seed), np.uint64(first))
    return streams


@kernel
def _uniform(streams: Streams, i: int) -> np.float32:
    """Return a number in [0, 1) and move stream `i` on."""
    streams[i] += _STEP
    # 24 bits are what a float32 between 0 and 1 can hold.
    return np.float32(np.int32(_mix(streams[i]) >> np.uint64(40))) * np.float32(1.0 / 16777216.0)


@kernel(cached=True)
def draw_uniforms(streams: Streams, out: Floats) -> None:
    """Write numbers in [0, 1) into `out`, (N, any), row i from stream i; distributions with no kernel draw by these."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = _uniform(streams, i)


@kernel(fastmath=True)
def forbid(row: Floats, masks: NDArray[np.bool_], i: int) -> None:
    """Make the logits that `masks[i]` forbids so low that their probability is 0; no masks means a first axis of 0."""
    if masks.shape[0]:
        for j in range(masks.shape[1]):
            row[j] = row[j] if masks[i, j] else MASKED


@kernel(fastmath=True)
def add_bias(head: Floats, bias: Floats) -> np.float32:
    """Add the bias to a head's logits and return the largest sum."""
    # As integers, floats keep their order (once negative ones are flipped), and an integer maximum is one instruction
    # a vector whereas a float maximum that respects NaN is not.
    top = np.int32(-2147483648)
    for j in range(head.shape[0]):
        logit = np.float32(head[j] + bias[j])
        head[j] = logit
        bits = logit.view(np.int32)
        top = max(top, np.int32(bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))))
    return np.int32(top ^ ((top >> np.int32(31)) & np.int32(0x7FFFFFFF))).view(np.float32)


@kernel(cached=True, fastmath=True)
def draw(
    logits: Floats,
    groups: Groups,
    bias: Floats,
    masks: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    streams: Streams,
    indices: NDArray[np.int32],
    log_probs: Floats,
) -> None:
    """Draw an index for each head of each member, and the log-probability of the whole; overwrites `logits`.

    Args:
        logits: (groups, outputs), without their bias.
        groups: which of the N rows below have the same logits and the same mask.
        bias: (outputs,), added to every row.
        masks: (N, outputs), where False forbids; or (0, 0) for no masks.
        offsets: (heads + 1,), where each head begins.
        streams: (N,), moved on by one draw a head.
        indices: (N, heads), written.
        log_probs: (N,), written.
    """
    for k in range(logits.shape[0]):
        row, members = logits[k], groups.members[groups.borders[k] : groups.borders[k + 1]]
        forbid(row, masks, groups.heads[k])
        for i in members:
            log_probs[i] = np.float32(0.0)
        for h in range(offsets.shape[0] - 1):
            # Slices, because an index that starts at an unknown offset might be negative, which stops vector code.
            head = row[offsets[h] : offsets[h + 1]]
            largest = add_bias(head, bias[offsets[h] : offsets[h + 1]])
            total = np.float32(0.0)
            for j in range(head.shape[0]):
                head[j] = exp(head[j] - largest)
                total += head[j]
            for i in members:
                choice = _search(head, _uniform(streams, i) * total)
                indices[i, h] = choice
                log_probs[i] += np.float32(np.log(head[choice] / total))


@kernel(cached=True, fastmath=True)
def assess(
    logits: Floats,
    bias: Floats,
    masks: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    indices: NDArray[np.int32],
    log_probs: Floats,
) -> None:
    """Write the log-probability of each row's `indices`, computed as the loss computes it; overwrites `logits`."""
    for i in range(logits.shape[0]):
        row = logits[i]
        forbid(row, masks, i)
        log_prob = np.float32(0.0)
        for h in range(offsets.shape[0] - 1):
            head = row[offsets[h] : offsets[h + 1]]
            largest = add_bias(head, bias[offsets[h] : offsets[h + 1]])
            total = np.float32(0.0)
            for j in range(head.shape[0]):
                total += exp(head[j] - largest)
            log_prob += head[indices[i, h]] - largest - np.float32(np.log(total))
        log_probs[i] = log_prob


@kernel(fastmath=True)
def _search(weights: Floats, target: np.float32) -> int:
    """Return the first column at which the running sum of weights exceeds `target`; its weight is never 0."""
    reached = np.float32(0.0)
    for first in range(0, weights.shape[0], BLOCK):
        block = weights[first : first + BLOCK]
        part = np.float32(0.0)
        for j in range(block.shape[0]):
            part += block[j]
        if reached + part > target:
            for j in range(block.shape[0]):
                reached += block[j]
                if reached > target:
                    return first + j
        else:
            reached += part
    for j in range(weights.shape[0] - 1, 0, -1):  # rounding left the sum at the target: the last possible column
        if weights[j] > np.float32(0.0):
            return j
    return 0


@kernel(cached=True, fastmath=True)
def pick_best(
    logits: Floats,
    bias: Floats,
    masks: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    indices: NDArray[np.int32],
) -> None:
    """Pick the most likely index of each head of each row; overwrites `logits`."""
    for i in range(logits.shape[0]):
        row = logits[i]
        forbid(row, masks, i)
        for h in range(offsets.shape[0] - 1):
            head = row[offsets[h] : offsets[h + 1]]
            add_bias(head, bias[offsets[h] : offsets[h + 1]])
            best = 0
            for j in range(1, head.shape[0]):
                if head[j] > head[best]:
                    best = j
            indices[i, h] = best


@kernel
def _normal_log_prob(outputs: Floats, choice: Floats) -> np.float32:
    """Return the log-density of independent normal numbers, given their means and then their log-deviations."""
    size = choice.shape[0]
    log_prob = np.float32(0.0)
    for j in range(size):
        scaled = (choice[j] - outputs[j]) * np.exp(-outputs[size + j])
        log_prob -= np.float32(0.5) * scaled * scaled + outputs[size + j] + HALF_LOG_TAU
    return log_prob


@kernel(cached=True)
def draw_normal(outputs: Floats, streams: Streams, choices: Floats, log_probs: Floats) -> None:
    """Draw independent normal numbers for each row, and the log-density of the whole.

    Args:
        outputs: (N, 2 * numbers), the means and then the logarithms of the deviations.
        streams: (N,), moved on by two draws for each pair of numbers.
        choices: (N, numbers), written.
        log_probs: (N,), written: of the choices as they are stored, rounded to float32.
    """
    size = choices.shape[1]
    for i in range(outputs.shape[0]):
        for j in range(0, size, 2):
            radius = np.sqrt(np.float32(-2.0) * np.log(np.float32(1.0) - _uniform(streams, i)))
            angle = TAU * _uniform(streams, i)
            choices[i, j] = outputs[i, j] + np.exp(outputs[i, size + j]) * radius * np.cos(angle)
            if j + 1 < size:
                choices[i, j + 1] = outputs[i, j + 1] + np.exp(outputs[i, size + j + 1]) * radius * np.sin(angle)
        log_probs[i] = _normal_log_prob(outputs[i], choices[i])


@kernel(cached=True)
def assess_normal(outputs: Floats, choices: Floats, log_probs: Floats) -> None:
    """Write the log-density of each row's `choices`, as `draw_normal` computes it."""
    for i in range(outputs.shape[0]):
        log_probs[i] = _normal_log_prob(outputs[i], choices[i])
