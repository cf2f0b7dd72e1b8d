"""PPO's loss, twice: plain torch for autograd, and one compiled pass that yields the gradient directly.

Both compute, as means over a minibatch,

    policy   -min(ratio * advantage, clip(ratio, 1 - clip, 1 + clip) * advantage)
    value    (value - return)**2 / 2, or the larger of that and the same with the value kept near the collected one
    entropy  of the policy, summed over heads

and minimise policy + value_coef * value - entropy_coef * entropy.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from garrison.jit import kernel
from garrison.learn.nn.arithmetic import MASKED, exp
from garrison.learn.nn.sampling import add_bias, forbid
from garrison.learn.rollout import Batch

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
    """What the loss of one minibatch came to."""

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
    logits: Tensor, values: Tensor, batch: Batch, rows: Rows, heads: tuple[int, ...], terms: Terms
) -> tuple[Tensor, Means]:
    """Return the loss of the samples `rows`, and its parts.

    Args:
        logits: (len(rows), outputs).
        values: (len(rows),).
        batch: what was collected.
        rows: which samples these are.
        heads: how many outputs each head has.
        terms: the weights and limits.
    """

    def of(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array[rows]).to(logits.device)

    if len(batch.masks):
        logits = torch.where(of(batch.masks), logits, torch.tensor(float(MASKED), device=logits.device))
    indices = of(batch.indices).long()
    log_probs, entropies = torch.zeros_like(values), torch.zeros_like(values)
    for head, choice in zip(torch.split(logits, list(heads), dim=1), indices.T, strict=True):
        head_log_probs = torch.log_softmax(head, dim=1)
        log_probs = log_probs + head_log_probs.gather(1, choice.unsqueeze(1)).squeeze(1)
        entropies = entropies - (head_log_probs.exp() * head_log_probs).sum(1)

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


@kernel(cached=True, fastmath=True)
def ppo_gradient(
    logits: Floats,
    bias: Floats,
    values: Floats,
    value_bias: Floats,
    rows: Rows,
    indices: NDArray[np.int32],
    masks: NDArray[np.bool_],
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
    weights: Floats,
    heads: Floats,
    bias_gradient: Floats,
    value_bias_gradient: Floats,
    sums: NDArray[np.float64],
) -> None:
    """Replace logits and values (both without bias) by the loss's gradient with respect to them.

    Adds to `bias_gradient`, `value_bias_gradient` and `sums` (policy, value, entropy, approx_kl, clip_fraction).
    `share` is one over the size of the whole minibatch; `weights` (outputs,) and `heads` (heads, 3) are scratch.

    A row is passed over three times, in the first-level cache: bias and maximum; exponentials and their sums; gradient.
    """
    one = np.float32(1.0)
    for k in range(rows.shape[0]):
        row, i = logits[k], rows[k]
        forbid(row, masks, i)
        log_prob = np.float32(0.0)
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
            log_prob += head[indices[i, h]] - log_total
            heads[h, 0] = one / total
            heads[h, 1] = log_total - dot / total
            heads[h, 2] = log_total
            entropy += heads[h, 1]

        log_ratio = log_prob - old_log_probs[i]
        ratio = np.float32(np.exp(log_ratio))
        advantage = (advantages[i] - advantage_mean) * advantage_scale
        clipped = min(max(ratio, one - clip), one + clip)
        gain, clipped_gain = ratio * advantage, clipped * advantage
        pull = share * gain if gain <= clipped_gain else np.float32(0.0)
        sums[0] -= min(gain, clipped_gain)
        sums[2] += entropy
        sums[3] += ratio - one - log_ratio
        sums[4] += 1.0 if abs(ratio - one) > clip else 0.0

        # The gradient for a logit: p * (pull + spread * (log p + entropy)), less the pull for the chosen one.
        spread = share * entropy_coef
        for h in range(offsets.shape[0] - 1):
            head, weight = row[offsets[h] : offsets[h + 1]], weights[offsets[h] : offsets[h + 1]]
            bias_slope = bias_gradient[offsets[h] : offsets[h + 1]]
            factor = heads[h, 0] * spread
            constant = heads[h, 0] * (pull + spread * (heads[h, 1] - heads[h, 2]))
            for j in range(head.shape[0]):
                slope = weight[j] * (constant + factor * head[j])
                head[j] = slope
                bias_slope[j] += slope
            head[indices[i, h]] -= pull
            bias_slope[indices[i, h]] -= pull

        value = values[k, 0] + value_bias[0]
        error = value - returns[i]
        value_slope = error
        loss = error * error
        if value_clip > np.float32(0.0):
            move = value - old_values[i]
            near = old_values[i] + min(max(move, -value_clip), value_clip) - returns[i]
            if near * near > loss:
                loss = near * near
                value_slope = near if abs(move) <= value_clip else np.float32(0.0)
        sums[1] += 0.5 * loss
        values[k, 0] = share * value_coef * value_slope
        value_bias_gradient[0] += values[k, 0]
