"""The empirical ceiling: PPO with the true state and Red's plan before its eyes, started from the shipped record agent.

It plays with more than any entry to the challenge may know, so it hints at what is left to gain; it bounds nothing.
"""

from dataclasses import dataclass, replace
from pathlib import Path
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
ATTACKERS = ("bline", "meander")
CHOOSING_SEED = 1
"""Of the episodes by which the best of several trainings is chosen; the score then comes from others."""


@dataclass(frozen=True)
class CeilingTraining:
    """How long the agent that sees everything is trained."""

    steps: int = 12_000_000
    """Steps of the training"""
    critic_steps: int = 1_000_000
    """Steps before it, from which only the critic is kept: the shipped agent has none"""
    learning_rate: float = 1e-3
    entropy_coef: float = 3e-3
    envs: int = 1024
    threads: int = 0
    """Threads for the network; 0 means one for each core"""


def train_with_truth(start: str, rules: str, seed: int, how: CeilingTraining) -> "Policy":
    """Train against both attackers in equal shares and return the policy.

    Args:
        start: the agent whose actor it begins with; it must have been trained on the observation `memory`.
        rules: `leaderboard` or `head`.
        seed: of the training.
        how: how long.
    """
    from garrison.learn import PPOConfig, train
    from garrison.learn.envs import policy_of
    from garrison.runs import preset

    envs = TruthView(how.envs, red=dict.fromkeys(ATTACKERS, 0.5), rules=rules, length=max(LENGTHS))
    plain = preset("record").learner
    assert isinstance(plain, PPOConfig)
    config = replace(
        plain,
        seed=seed,
        steps=how.steps,
        learning_rate=how.learning_rate,
        entropy_coef=how.entropy_coef,
        threads=how.threads,
    )
    first = policy_of(envs, config.policy, seed)
    copy_actor(start, first)
    if how.critic_steps:
        critic = train(replace(config, steps=how.critic_steps), envs, weights=first.flat).policy
        copy_actor(start, critic)
        first = critic
    policy = train(config, envs, weights=first.flat).policy
    envs.close()
    return policy


def copy_actor(name: str, policy: "Policy") -> None:
    """Give a policy the actor of an agent that sees the first of its inputs; the others then count for nothing yet."""
    from garrison.agents.load import SHIPPED
    from garrison.learn.nn.description import build_policy
    from garrison.storage import checkpoint

    values = checkpoint.load(SHIPPED.get(name, Path(name)))
    source = build_policy(values["policy"], values["state"]["weights"])
    places = policy.places()
    for parameter, place in source.places().items():
        if parameter.startswith(("actor.", "action_head.")):
            into = places[parameter]
            weights = policy.flat[into.begin : into.end].view(into.shape)
            weights.zero_()
            weights[..., : place.shape[-1]] = source.flat[place.begin : place.end].view(place.shape)


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


def ceiling_run(start: str, rules: str, seed: int, how: CeilingTraining, episodes: int, fresh: int) -> dict[str, Any]:
    """Train once and return what the agent scores in every cell, in two sets of episodes.

    `choosing` has the means of the episodes by which the best of several runs may be chosen; `value` and `margin` are
    of the episodes of the seed `fresh`.
    """
    began = perf_counter()
    policy = train_with_truth(start, rules, seed, how)
    seconds = perf_counter() - began
    cells = []
    for red in ATTACKERS:
        choosing = play_with_truth(policy, red, rules, episodes, CHOOSING_SEED).mean(axis=1)
        scored = play_with_truth(policy, red, rules, episodes, fresh)
        errors = 1.96 * scored.std(axis=1, ddof=1) / np.sqrt(episodes)
        for length, chosen, mean, margin in zip(LENGTHS, choosing, scored.mean(axis=1), errors, strict=True):
            cells.append(
                {"red": red, "length": length, "choosing": float(chosen), "value": float(mean), "margin": float(margin)}
            )
    return {
        "rules": rules,
        "seed": seed,
        "start": start,
        "steps": how.steps,
        "episodes": episodes,
        "seconds": seconds,
        "cells": cells,
    }


def best_cells(runs: list[dict[str, Any]], red: str) -> list[dict[str, Any]]:
    """Return the cells of the best run against one attacker, chosen by the sum over lengths of `choosing`."""
    cells = [[cell for cell in run["cells"] if cell["red"] == red] for run in runs]
    return max(cells, key=lambda one: sum(cell["choosing"] for cell in one))
