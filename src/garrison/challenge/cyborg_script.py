"""What the challenge's own `evaluation.py` prints for an agent, if Python's generator is seeded at its start.

The script builds CybORG anew for each cell, wraps it, resets it, plays its episodes and resets after each. All of that
draws from one generator, which is never seeded again: so the cells are played one after the other, and each depends on
those before it.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean, stdev
from typing import TYPE_CHECKING

from garrison.cage2.cyborg import CYBORG_REDS, CyborgAgent
from garrison.cage2.inputs import HIGHEST_SEED
from garrison.cage2.names import DEFAULT_RULES, RULES
from garrison.challenge import leaderboard
from garrison.challenge.evaluation import check_agent
from garrison.contract.resets import whole
from garrison.errors import choose

if TYPE_CHECKING:
    from garrison.agents import Agent

SCRIPT_EPISODES = 100
"""In each cell of the script"""
CONSTRUCTION_RESETS = 2
"""Draws as of a reset that constructing takes: one for `CybORG`, one for `ChallengeWrapper`"""


@dataclass(frozen=True)
class ScriptCell:
    """The episodes against one attacker with one length."""

    red: str
    length: int
    totals: tuple[float, ...]
    """The total reward of each episode"""

    def __str__(self) -> str:
        """Return the line that the script prints."""
        spread = f"{mean(self.totals)} with a standard deviation of {stdev(self.totals)}"
        return f"Average reward for red agent {CYBORG_REDS[self.red]} and steps {self.length} is: {spread}"


def play_script(
    agent: "Agent",
    cyborg_seed: int,
    rules: str | None = None,
    episodes: int = SCRIPT_EPISODES,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[ScriptCell]:
    """Yield the nine cells of the script, each when it has been played.

    Args:
        agent: see `garrison.agents.Agent`; `CyborgAgent(agent)` is the same in the script itself.
        cyborg_seed: of Python's generator, at the script's start. The generator is put back where it was.
        rules: `head` or `leaderboard`; by default those that the agent was trained under.
        episodes: in each cell, the script's `MAX_EPS`.
        seed: of the agent's own draws, if it makes any.
        say: is told what is being played.
    """
    check_agent(agent)
    whole("cyborg_seed", cyborg_seed, 0, HIGHEST_SEED)
    whole("episodes", episodes, 2)
    rules = choose("rules", rules or getattr(agent, "rules", None) or DEFAULT_RULES, RULES)
    player = CyborgAgent(agent, seed)
    own = random.Random(cyborg_seed).getstate()
    cells = [(length, red) for length in leaderboard.LENGTHS for red in leaderboard.EVALUATED_REDS]
    for number, (length, red) in enumerate(cells):
        say(f"{number} of {len(cells)} cells: {length} steps, {red}")
        others = random.getstate()
        random.setstate(own)
        try:
            totals = _play_cell(player, agent.encoder, rules, red, length, episodes)
        finally:
            own = random.getstate()
            random.setstate(others)
        yield ScriptCell(red, length, totals)


def _play_cell(
    player: CyborgAgent, encoder: str, rules: str, red: str, length: int, episodes: int
) -> tuple[float, ...]:
    from garrison.cage2.turns import Turns

    turns = Turns(rules, red, encoder)
    for _ in range(CONSTRUCTION_RESETS):
        turns.reset()
    turns.reset()
    totals = []
    for _ in range(episodes):
        rewards = [turns.play(player.get_action(turns.bits, None)) for _ in range(length)]
        player.end_episode()
        totals.append(sum(rewards))
        turns.reset()
    return tuple(totals)
