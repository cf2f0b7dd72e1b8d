"""The empirical ceiling: PPO with the true state and Red's plan before its eyes, for each attacker an agent of its own.

It plays with more than any entry to the challenge may know, so it hints at what is left to gain; it bounds nothing.
"""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from garrison.bench.suites.truth_view import TruthView
from garrison.cage2.names import REDS

if TYPE_CHECKING:
    import torch

    from garrison.learn.nn.policy import Policy

LENGTHS = (30, 50, 100)
CHOOSING_SEED = 1
"""Of the episodes by which the best of several trainings is chosen; the score then comes from others."""


@dataclass(frozen=True)
class CeilingTraining:
    """How the agent that sees everything is trained: as the preset `record`, but for these."""

    steps: int = 12_000_000
    envs: int = 1024
    threads: int = 0
    """Threads for the network; 0 means one for each core"""


def train_with_truth(rules: str, red: str, seed: int, how: CeilingTraining) -> "Policy":
    """Train from scratch against one attacker, in episodes of 100 steps, and return the policy."""
    from garrison.learn import PPOConfig, train
    from garrison.runs import preset

    plain = preset("record").learner
    assert isinstance(plain, PPOConfig)
    envs = TruthView(how.envs, red=red, rules=rules, length=max(LENGTHS))
    policy = train(replace(plain, seed=seed, steps=how.steps, threads=how.threads), envs).policy
    envs.close()
    return policy


def play_with_truth(policy: "Policy", red: str, rules: str, episodes: int, seed: int) -> NDArray[np.float64]:
    """Return the returns after each of `LENGTHS` steps, (lengths, episodes); the likeliest action is taken.

    The agent is not told how long an episode is, so a short one is the beginning of a long one.
    """
    import torch

    envs = TruthView(episodes, red=red, rules=rules, length=max(LENGTHS), autoreset_mode="Disabled")
    stream = np.random.SeedSequence((seed, max(LENGTHS), REDS.index(red)))
    observations, _ = envs.reset(seed=stream.generate_state(episodes, np.uint64).tolist())
    total, returns = np.zeros(episodes), []
    for step in range(max(LENGTHS)):
        with torch.no_grad():
            logits = policy.decide((_floats(observations),))[0].numpy()
        logits[~envs.action_masks()] = -np.inf
        observations, rewards, *_ = envs.step(logits.argmax(axis=1))
        total += rewards
        if step + 1 in LENGTHS:
            returns.append(total.copy())
    envs.close()
    return np.array(returns)


def _floats(bits: NDArray[np.int8]) -> "torch.Tensor":
    import torch

    return torch.from_numpy(bits.astype(np.float32))


def ceiling_run(rules: str, red: str, seed: int, how: CeilingTraining, episodes: int, fresh: int) -> dict[str, Any]:
    """Train once and return what the agent scores in every cell, in two sets of episodes.

    `choosing` has the means of the episodes by which the best of several runs may be chosen; `value` and `margin` are
    of the episodes of the seed `fresh`.
    """
    began = perf_counter()
    policy = train_with_truth(rules, red, seed, how)
    seconds = perf_counter() - began
    choosing = play_with_truth(policy, red, rules, episodes, CHOOSING_SEED).mean(axis=1)
    scored = play_with_truth(policy, red, rules, episodes, fresh)
    errors = 1.96 * scored.std(axis=1, ddof=1) / np.sqrt(episodes)
    cells = [
        {"length": length, "choosing": float(chosen), "value": float(mean), "margin": float(margin)}
        for length, chosen, mean, margin in zip(LENGTHS, choosing, scored.mean(axis=1), errors, strict=True)
    ]
    asked = {"rules": rules, "red": red, "seed": seed, "steps": how.steps, "episodes": episodes}
    return {**asked, "seconds": seconds, "cells": cells}


def best_cells(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells of the best run, by the sum over lengths of `choosing`."""
    cells: list[list[dict[str, Any]]] = [run["cells"] for run in runs]
    return max(cells, key=lambda one: sum(cell["choosing"] for cell in one))
