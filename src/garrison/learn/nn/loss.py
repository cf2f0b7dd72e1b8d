"""PPO's loss, twice: plain torch for autograd, and one compiled pass that yields the gradient directly.

Both compute, as means over a minibatch,

    policy   -min(ratio * advantage, clip(ratio, 1 - clip, 1 + clip) * advantage)
    value    (value - return)**2 / 2, or the larger of that and the same with the value kept near the collected one
    entropy  of the policy

and minimise policy + value_coef * value - entropy_coef * entropy.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from garrison.jit import kernel
from garrison.learn.nn.arithmetic import exp
from garrison.learn.nn.groups import Groups
from garrison.learn.nn.sampling import add_bias, forbid
from garrison.learn.rollout import TrainingBatch
from garrison.learn.spaces.actions import ActionDistribution

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Terms(NamedTuple):
    """What shapes the loss of one minibatch."""

    clip: float
    value_clip: float
    value_coef: float
    entropy_coef: float
    advantage_mean: float = 0.0
    advantage_scale: float = 1.0


class Means(NamedTuple):
    """The parts of the loss of one minibatch."""

    policy_loss: float
    value_loss: float
    entropy: float
    approx_kl: float
    clip_fraction: float


def normalisation(advantages: Floats) -> tuple[float, float]:
    """Return the mean of the advantages and the factor that gives them deviation 1."""
    mean = float(advantages.mean(dtype=np.float64))
    return mean, 1.0 / (float(advantages.std(dtype=np.float64)) + 1e-8)


def ppo_loss(
    actions: ActionDistribution, outputs: Tensor, values: Tensor, batch: TrainingBatch, rows: Rows, terms: Terms
) -> tuple[Tensor, Means]:
    """Return the loss of the samples `rows`, and its parts.

    Args:
        actions: what the outputs mean.
        outputs: (len(rows), actions.outputs).
        values: (len(rows),).
        batch: what was collected.
        rows: which samples these are.
        terms: the weights and limits.
    """

    def of(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array[rows]).to(outputs.device)

    masks = of(batch.masks) if len(batch.masks) else None
    log_probs, entropies = actions.evaluate(outputs, of(batch.choices), masks)

    log_ratios = log_probs - of(batch.log_probs)
    ratios = log_ratios.exp()
    advantages = (of(batch.advantages) - terms.advantage_mean) * terms.advantage_scale
    clipped = ratios.clamp(1.0 - terms.clip, 1.0 + terms.clip)
    policy = -torch.minimum(ratios * advantages, clipped * advantages).mean()

    returns = of(batch.returns)
    errors = (values - returns) ** 2
    if terms.value_clip:
        old = of(batch.values)
        near = old + (values - old).clamp(-terms.value_clip, terms.value_clip)
        errors = torch.maximum(errors, (near - returns) ** 2)
    value = 0.5 * errors.mean()

    entropy = entropies.mean()
    loss = policy + terms.value_coef * value - terms.entropy_coef * entropy
    with torch.no_grad():
        approx_kl = (ratios - 1.0 - log_ratios).mean()  # Schulman's k3: unbiased, never negative
        clip_fraction = ((ratios - 1.0).abs() > terms.clip).float().mean()
    return loss, Means(*(float(x) for x in torch.stack((policy, value, entropy, approx_kl, clip_fraction)).detach()))


class Samples(NamedTuple):
    """What the loss reads of each sample of a batch."""

    choices: NDArray[np.int32]
    masks: NDArray[np.bool_]
    log_probs: Floats
    values: Floats
    advantages: Floats
    returns: Floats


def samples_of(batch: TrainingBatch) -> Samples:
    """Return what the loss reads of a batch."""
    return Samples(batch.choices, batch.masks, batch.log_probs, batch.values, batch.advantages, batch.returns)


class HeadOutputs(NamedTuple):
    """What the heads computed for some samples, without the biases, and the biases."""

    logits: Floats
    bias: Floats
    values: Floats
    value_bias: Floats


class LossScratch(NamedTuple):
    """What one thread writes to while it computes the loss's gradient."""

    weights: Floats
    """(outputs,): unnormalised probabilities."""
    pulls: Floats
    """(outputs,): how much the members of a group want more of what they chose; zeros before and after."""
    heads: Floats
    """(heads, 3): of each head one over the sum of its weights, its entropy, the logarithm of the sum."""
    bias_gradient: Floats
    """(outputs,): added to."""
    value_bias_gradient: Floats
    """(1,): added to."""
    sums: NDArray[np.float64]
    """In the order of `Means`: added to."""


@kernel(fastmath=True)
def ppo_gradient(
    outputs: HeadOutputs,
    groups: Groups,
    samples: Samples,
    offsets: NDArray[np.int64],
    terms: Terms,
    share: np.float32,
    scratch: LossScratch,
) -> None:
    """Replace the logits and the value of each group by the loss's gradient; categorical actions only.

    `share` is one over the size of the whole minibatch. A row is passed over three times, in the first-level cache:
    bias and maximum; exponentials and their sums; gradient. In between, each member of the group adds what it asks for.
    """
    logits, values = outputs.logits, outputs.values
    bias, value_bias = outputs.bias, outputs.value_bias
    weights, pulls, heads, sums = scratch.weights, scratch.pulls, scratch.heads, scratch.sums
    clip, value_clip = terms.clip, terms.value_clip
    one = np.float32(1.0)
    for k in range(logits.shape[0]):
        row, members = logits[k], groups.members[groups.borders[k] : groups.borders[k + 1]]
        forbid(row, samples.masks, groups.heads[k])
        entropy = np.float32(0.0)
        for h in range(offsets.shape[0] - 1):
            # Slices, because an index that starts at an unknown offset might be negative, which stops vector code.
            head, weight = row[offsets[h] : offsets[h + 1]], weights[offsets[h] : offsets[h + 1]]
            largest = add_bias(head, bias[offsets[h] : offsets[h + 1]])
            total = np.float32(0.0)
            dot = np.float32(0.0)
            for j in range(head.shape[0]):
                logit = head[j] - largest
                head[j] = logit
                weight[j] = exp(logit)
                total += weight[j]
                dot += weight[j] * logit
            log_total = np.float32(np.log(total))
            heads[h, 0] = one / total
            heads[h, 1] = log_total - dot / total
            heads[h, 2] = log_total
            entropy += heads[h, 1]

        value = values[k, 0] + value_bias[0]
        value_slope = np.float32(0.0)
        all_pulls = np.float32(0.0)
        for i in members:
            log_prob = np.float32(0.0)
            for h in range(offsets.shape[0] - 1):
                log_prob += row[offsets[h] + samples.choices[i, h]] - heads[h, 2]
            log_ratio = log_prob - samples.log_probs[i]
            ratio = np.float32(np.exp(log_ratio))
            advantage = (samples.advantages[i] - terms.advantage_mean) * terms.advantage_scale
            clipped = min(max(ratio, one - clip), one + clip)
            gain, clipped_gain = ratio * advantage, clipped * advantage
            pull = share * gain if gain <= clipped_gain else np.float32(0.0)
            all_pulls += pull
            for h in range(offsets.shape[0] - 1):
                pulls[offsets[h] + samples.choices[i, h]] += pull
            sums[0] -= min(gain, clipped_gain)
            sums[3] += ratio - one - log_ratio
            sums[4] += 1.0 if abs(ratio - one) > clip else 0.0

            error = value - samples.returns[i]
            slope = error
            loss = error * error
            if value_clip > np.float32(0.0):
                move = value - samples.values[i]
                near = samples.values[i] + min(max(move, -value_clip), value_clip) - samples.returns[i]
                if near * near > loss:
                    loss = near * near
                    slope = near if abs(move) <= value_clip else np.float32(0.0)
            sums[1] += 0.5 * loss
            value_slope += slope
        values[k, 0] = share * terms.value_coef * value_slope
        scratch.value_bias_gradient[0] += values[k, 0]

        # The gradient for a logit: p * (pull + spread * (log p + entropy)), less the pull for the chosen one.
        size = np.float32(members.shape[0])
        sums[2] += size * entropy
        spread = size * share * terms.entropy_coef
        for h in range(offsets.shape[0] - 1):
            head, weight = row[offsets[h] : offsets[h + 1]], weights[offsets[h] : offsets[h + 1]]
            pull_row = pulls[offsets[h] : offsets[h + 1]]
            bias_slope = scratch.bias_gradient[offsets[h] : offsets[h + 1]]
            factor = heads[h, 0] * spread
            constant = heads[h, 0] * (all_pulls + spread * (heads[h, 1] - heads[h, 2]))
            for j in range(head.shape[0]):
                slope = weight[j] * (constant + factor * head[j]) - pull_row[j]
                head[j] = slope
                bias_slope[j] += slope
                pull_row[j] = np.float32(0.0)
