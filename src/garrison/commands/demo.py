"""`garrison demo`: simple defenders meet the scripted attackers, thousands of episodes at once."""

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import DEFAULT_RULES, SCRIPTED_REDS
from garrison.commands.progress import progress

if TYPE_CHECKING:
    from garrison.agents.protocol import Agent

DEFENDERS = {"sleep": "sleep", "uniform": "random", "shield": "shield", "restore": "belief-restore"}
"""The rows of the table, and the scripted agent behind each."""


@dataclass(frozen=True)
class Arguments:
    """Play simple defenders against the scripted attackers."""

    episodes: int = 10_000
    """Episodes per defender and attacker."""
    length: int = 100
    """Steps per episode."""
    rules: str = DEFAULT_RULES
    """head or leaderboard."""
    seed: int = 0
    """Seed of the first episode; each further episode has the next number."""


def play(agent: "Agent", args: Arguments, red: str) -> NDArray[np.float64]:
    """Return the reward of each episode."""
    from garrison.cage2 import VectorEnv

    envs = VectorEnv(args.episodes, red=red, rules=args.rules, length=args.length, copy=False)
    observations, infos = envs.reset(seed=args.seed)
    agent.begin(args.episodes, args.seed)
    for _ in range(args.length):
        observations, *_, infos = envs.step(agent.act(observations))
    returns: NDArray[np.float64] = infos["episode_stats"]["r"]
    return returns


def main(arguments: list[str]) -> int:
    """Play every pairing and print the mean rewards."""
    import tyro

    from garrison.agents import load_agent
    from garrison.cage2 import warm_up

    args: Any = tyro.cli(Arguments, args=arguments, prog="garrison demo")
    warm_up()  # says so, if it takes a while
    print(f"mean reward of {args.episodes} episodes of {args.length} steps, {args.rules} rules, ± 95 %")
    print(f"{'defender':<10}" + "".join(f"{red:>22}" for red in SCRIPTED_REDS))
    began = perf_counter()
    for name, agent in DEFENDERS.items():
        with progress() as say:
            results = []
            for red in SCRIPTED_REDS:
                say(f"{name} against {red}")
                results.append(play(load_agent(agent), args, red))
        cells = [f"{r.mean():.2f} ± {1.96 * r.std() / len(r) ** 0.5:.2f}" for r in results]
        print(f"{name:<10}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    seconds = perf_counter() - began
    steps = len(DEFENDERS) * len(SCRIPTED_REDS) * args.episodes * args.length
    print(f"{steps:,} steps in {seconds:.1f} s, defenders included: {steps / seconds / 1e6:.1f} million per second")
    return 0
