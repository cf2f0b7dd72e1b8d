"""The challenge's evaluation: nine cells of attacker and length, 1000 episodes each, and the sum of their means.

What is scored is the environment's own reward, never one that training has scaled.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import DEFAULT_RULES, REDS, RULES, SCRIPTED_REDS
from garrison.challenge import leaderboard
from garrison.errors import UserError, choose

if TYPE_CHECKING:
    from garrison.agents import Agent
    from garrison.cage2 import RedAgent

    OneRed = str | RedAgent | type[RedAgent]

NEEDED = ("name", "encoder", "begin", "reset", "act")
"""What `evaluate` uses of an agent; `rules` may be left out."""
CELL_EPISODES = 1000
"""In each cell of the challenge's protocol."""
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
    trained_under: str | None = None
    """The rules that the agent was trained under, if it tells."""
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
    def milliseconds_per_decision(self) -> float:
        """What an action took, the simulator's step included."""
        return 1000 * self.seconds / (self.episodes * sum(cell.length for cell in self.cells))

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
            "trained_under": self.trained_under,
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
        widths = {cell.red: max(20, len(cell.red) + 2) for cell in self.cells}
        lengths = list(dict.fromkeys(cell.length for cell in self.cells))
        of = {(cell.red, cell.length): cell for cell in self.cells}
        lines = [
            f"{self.agent}, rules {self.rules}, {self.episodes} episodes per cell, seed {self.seed}",
            *self._warning(),
            "",
            "length " + "".join(f"{red:>{wide}}" for red, wide in widths.items()),
        ]
        for length in lengths:
            shown = ((of[red, length], wide) for red, wide in widths.items())
            lines.append(f"{length:>6} " + "".join(f"{f'{c.mean:.2f} ± {1.96 * c.stderr:.2f}':>{w}}" for c, w in shown))
        took = f"{self.seconds:.1f} s, {self.milliseconds_per_decision:.2g} ms a decision"
        lines += ["", f"total {self.total:.2f} ± {self.ci95:.2f}   (95 % confidence, {took})"]
        if self.is_official:
            lines += ["", *place_on_leaderboard(self.agent, self.rules, self.total, self.ci95)]
        return "\n".join(lines)

    def _warning(self) -> list[str]:
        if self.trained_under in (None, self.rules):
            return []
        return [f"note: trained under {self.trained_under}, scored under {self.rules}"]


def place_on_leaderboard(agent: str, rules: str, total: float, ci95: float) -> list[str]:
    """Return the leaderboard's rows around a total, as lines."""
    rows = leaderboard.leaderboard()
    place = leaderboard.rank_of(total)
    title = "CAGE Challenge 2, final leaderboard"
    if rules != leaderboard.TABLE_RULES:
        title += f" (made under the rules {leaderboard.TABLE_RULES!r}; this agent played under {rules!r})"
    shown = rows[max(0, place - 1 - NEIGHBOURS) : place - 1 + NEIGHBOURS]

    def line(rank: str, score: float, error: float, who: str) -> str:
        return f"{rank:>5}  {score:>9.2f} ± {error:<6.2f} {who}"

    lines = [line(str(row.rank), row.total, row.ci95, f"{row.team}, {row.method}") for row in (rows[0], *shown)]
    gap = [] if shown[0].rank <= 2 else [f"{'...':>5}"]
    top = [] if shown[0].rank == 1 else [lines[0], *gap]
    above = sum(row.rank < place for row in shown)
    return [title, *top, *lines[1 : 1 + above], line("==>", total, ci95, agent), *lines[1 + above :]]


def check_agent(agent: Any) -> None:
    """Raise a UserError that says what an agent needs, if this is none."""
    missing = [name for name in NEEDED if not hasattr(agent, name)]
    if not missing:
        return
    what = f"an agent needs {', '.join(NEEDED)} (see garrison.agents.Agent)"
    if isinstance(agent, str | Path):
        raise UserError(f"{what}, not a name: write evaluate(load_agent({str(agent)!r})).")
    if hasattr(agent, "env_settings"):
        env = agent.env_settings["env"]
        raise UserError(f"{agent.name} was trained on {env}, not on CAGE-2: use garrison.evaluate.")
    if hasattr(agent, "predict"):
        raise UserError(f"{what}; wrap a model of Stable-Baselines3 as garrison.agents.Sb3Agent(model).")
    raise UserError(f"{what}; this {type(agent).__name__} has no {', no '.join(missing)}.")


def evaluate(
    agent: "Agent",
    rules: str | None = None,
    episodes: int = CELL_EPISODES,
    seed: int = 0,
    reds: "Sequence[OneRed]" = leaderboard.EVALUATED_REDS,
    lengths: Sequence[int] = leaderboard.LENGTHS,
    say: Callable[[str], None] = lambda text: None,
) -> Evaluation:
    """Score `agent` against every attacker with every length of episodes.

    Without `rules` it plays under those that it was trained under; an agent that names none, under the default ones. A
    cell's episodes depend on the seed, the attacker and the length, not on the other cells.

    Args:
        agent: see `garrison.agents.Agent`.
        rules: `head` or `leaderboard`.
        episodes: in each cell.
        seed: decides every draw.
        reds: names of attackers, and run folders or checkpoints of trained ones; one of your own is a
            `garrison.cage2.RedAgent` or `"module:Class"`.
        lengths: steps per episode.
        say: is told what is being played.
    """
    from garrison.agents.learned_red import find_red
    from garrison.cage2 import warm_up

    check_agent(agent)
    reds = [find_red(red) for red in reds]
    trained_under = getattr(agent, "rules", None)
    rules = choose("rules", rules or trained_under or DEFAULT_RULES, RULES)
    names = [name_of(red) for red in reds]
    for what, values in (("red", names), ("length", lengths)):
        if not values or len(set(values)) != len(values):
            raise UserError(f"name each {what} once, and at least one; got {' '.join(map(str, values)) or 'none'}.")
    if episodes < 2:
        raise UserError(f"a cell needs at least 2 episodes to estimate its error; got {episodes}.")
    if seed < 0:
        raise UserError(f"seed must be 0 or more; got {seed}.")
    warm_up()  # says so, if it takes a while
    began = perf_counter()
    scripted = [name for name in names if name in SCRIPTED_REDS]
    own = {name: red for name, red in zip(names, reds, strict=True) if name not in SCRIPTED_REDS}
    cells: list[CellScore] = []
    for length in lengths:
        scores: dict[str, NDArray[np.float64]] = {}
        for group in [scripted] * bool(scripted) + [[name] for name in own]:
            say(f"{len(cells) + len(scores)} of {len(names) * len(lengths)} cells: {length} steps, {', '.join(group)}")
            attackers = [name for name in group for _ in range(episodes)] if group == scripted else own[group[0]]
            returns = play(agent, attackers, [code_of(name) for name in group], rules, length, episodes, seed)
            scores |= zip(group, returns, strict=True)
        for name in names:
            stderr = float(scores[name].std(ddof=1) / math.sqrt(episodes))
            cells.append(CellScore(name, int(length), float(scores[name].mean()), stderr))
    return Evaluation(agent.name, rules, episodes, seed, tuple(cells), trained_under, perf_counter() - began)


def play(
    agent: "Agent", red: Any, codes: Sequence[int], rules: str, length: int, episodes: int, seed: int
) -> NDArray[np.float64]:
    """Return the returns, (attackers, episodes), of a batch with `episodes` environments for each attacker's code."""
    from garrison.cage2 import VectorEnv

    envs = VectorEnv(
        len(codes) * episodes,
        red=red,
        rules=rules,
        length=length,
        encoder=agent.encoder,
        autoreset_mode="Disabled",
        copy=False,
    )
    observations, _ = envs.reset(seed=[s for code in codes for s in episode_seeds(seed, length, code, episodes)])
    policy = getattr(agent, "rollout_policy", None)
    if policy is not None and isinstance(red, list):  # names: attackers that the kernel plays by itself
        returns = envs.rollout(policy, length, sums=True).rewards
    else:
        agent.begin(envs.num_envs, seed=int(np.random.SeedSequence((seed, length)).generate_state(1)[0]))
        returns = np.zeros(envs.num_envs)
        for _ in range(length):
            observations, rewards, _, _, _ = envs.step(agent.act(observations))
            returns += rewards
    envs.close()
    return returns.reshape(len(codes), episodes)


def episode_seeds(seed: int, length: int, code: int, episodes: int) -> list[int]:
    """Return the seeds of a cell's episodes; a smaller number of episodes has the first of them.

    >>> episode_seeds(0, 30, 1, 9)[:2] == episode_seeds(0, 30, 1, 2)
    True
    """
    seeds: list[int] = np.random.SeedSequence((seed, length, code)).generate_state(episodes, np.uint64).tolist()
    return seeds


def name_of(red: "OneRed") -> str:
    """Return what results call an attacker."""
    if isinstance(red, str):
        return red
    return red.__name__ if isinstance(red, type) else str(getattr(red, "name", type(red).__name__))


def code_of(name: str) -> int:
    """Return an attacker's part of the seed; those of users share one, and so meet the same episodes."""
    return REDS.index(name if name in SCRIPTED_REDS else "external")
