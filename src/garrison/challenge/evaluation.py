"""The challenge's evaluation: nine cells of attacker and length, 1000 episodes each, and the sum of their means.

What is scored is the environment's own reward, never one that training has scaled.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from garrison.cage2.names import REDS, RULES, SCRIPTED_REDS
from garrison.challenge import leaderboard
from garrison.errors import UserError, choose

if TYPE_CHECKING:
    from garrison.agents import Agent

NEIGHBOURS = 2  # rows of the leaderboard shown above and below an agent's place


@dataclass(frozen=True)
class CellScore:
    """The score against one attacker with one length of episodes."""

    red: str
    length: int
    mean: float
    stderr: float


@dataclass(frozen=True)
class Evaluation:
    """What an agent scored."""

    agent: str
    rules: str
    episodes: int
    seed: int
    cells: tuple[CellScore, ...]
    seconds: float = field(default=0.0, compare=False)

    @property
    def total(self) -> float:
        """The sum of the cells' means."""
        return sum(cell.mean for cell in self.cells)

    @property
    def ci95(self) -> float:
        """Half the width of the total's 95 % confidence interval."""
        return 1.96 * math.sqrt(sum(cell.stderr**2 for cell in self.cells))

    @property
    def is_official(self) -> bool:
        """Whether the cells are the challenge's nine."""
        return [(c.length, c.red) for c in self.cells] == [
            (length, red) for length in leaderboard.LENGTHS for red in leaderboard.EVALUATED_REDS
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `--json` prints it."""
        return {
            "agent": self.agent,
            "rules": self.rules,
            "episodes": self.episodes,
            "seed": self.seed,
            "cells": [
                {"red": c.red, "length": c.length, "mean": round(c.mean, 6), "stderr": round(c.stderr, 6)}
                for c in self.cells
            ],
            "total": round(self.total, 6),
            "ci95": round(self.ci95, 6),
        }

    def to_text(self) -> str:
        """Return the result as a table, with the leaderboard's rows around the agent's place."""
        reds = list(dict.fromkeys(cell.red for cell in self.cells))
        lengths = list(dict.fromkeys(cell.length for cell in self.cells))
        of = {(cell.red, cell.length): cell for cell in self.cells}
        lines = [
            f"{self.agent}, rules {self.rules}, {self.episodes} episodes per cell, seed {self.seed}",
            "",
            "length " + "".join(f"{red:>20}" for red in reds),
        ]
        for length in lengths:
            shown = (of[red, length] for red in reds)
            lines.append(f"{length:>6} " + "".join(f"{f'{c.mean:.2f} ± {1.96 * c.stderr:.2f}':>20}" for c in shown))
        lines += ["", f"total {self.total:.2f} ± {self.ci95:.2f}   (95 % confidence, {self.seconds:.1f} s)"]
        if self.is_official:
            lines += ["", *place_on_leaderboard(self.agent, self.rules, self.total, self.ci95)]
        return "\n".join(lines)


def place_on_leaderboard(agent: str, rules: str, total: float, ci95: float) -> list[str]:
    """Return the leaderboard's rows around a total, as lines."""
    rows = leaderboard.leaderboard()
    place = leaderboard.rank_of(total)
    title = "CAGE Challenge 2, final leaderboard"
    if rules != "leaderboard":
        title += f" (made under the rules 'leaderboard'; this agent played under {rules!r})"
    shown = rows[max(0, place - 1 - NEIGHBOURS) : place - 1 + NEIGHBOURS]

    def line(rank: str, score: float, error: float, who: str) -> str:
        return f"{rank:>5}  {score:>9.2f} ± {error:<6.2f} {who}"

    lines = [line(str(row.rank), row.total, row.ci95, f"{row.team}, {row.method}") for row in (rows[0], *shown)]
    gap = [] if shown[0].rank <= 2 else [f"{'...':>5}"]
    top = [] if shown[0].rank == 1 else [lines[0], *gap]
    above = sum(row.rank < place for row in shown)
    return [title, *top, *lines[1 : 1 + above], line("==>", total, ci95, agent), *lines[1 + above :]]


def evaluate(
    agent: "Agent",
    rules: str = "head",
    episodes: int = 1000,
    seed: int = 0,
    reds: Sequence[str] = leaderboard.EVALUATED_REDS,
    lengths: Sequence[int] = leaderboard.LENGTHS,
) -> Evaluation:
    """Score `agent` against every attacker with every length of episodes.

    A cell's episodes depend on the seed, the attacker and the length, not on the other cells.
    """
    from garrison.cage2 import VectorEnv

    choose("rules", rules, RULES)
    for red in reds:
        choose("red", red, SCRIPTED_REDS)
    for what, values in (("red", reds), ("length", lengths)):
        if not values or len(set(values)) != len(values):
            raise UserError(f"name each {what} once, and at least one; got {' '.join(map(str, values)) or 'none'}.")
    if episodes < 2:
        raise UserError(f"a cell needs at least 2 episodes to estimate its error; got {episodes}.")
    if seed < 0:
        raise UserError(f"seed must be 0 or more; got {seed}.")
    began = perf_counter()
    cells = []
    for length in lengths:
        envs = VectorEnv(
            len(reds) * episodes,
            red=[red for red in reds for _ in range(episodes)],
            rules=rules,
            length=length,
            encoder=agent.encoder,
            autoreset_mode="Disabled",
            copy=False,
        )
        codes = [np.random.SeedSequence((seed, length, REDS.index(red))) for red in reds]
        seeds = np.concatenate([code.generate_state(episodes, np.uint64) for code in codes])
        observations, _ = envs.reset(seed=seeds.tolist())
        agent.begin(envs.num_envs, seed=int(np.random.SeedSequence((seed, length)).generate_state(1)[0]))
        returns = np.zeros(envs.num_envs)
        for _ in range(length):
            observations, rewards, _, _, _ = envs.step(agent.act(observations))
            returns += rewards
        envs.close()
        for red, scores in zip(reds, returns.reshape(len(reds), episodes), strict=True):
            stderr = float(scores.std(ddof=1) / math.sqrt(episodes))
            cells.append(CellScore(red, int(length), float(scores.mean()), stderr))
    return Evaluation(agent.name, rules, episodes, seed, tuple(cells), perf_counter() - began)
