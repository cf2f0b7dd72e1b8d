"""`garrison demo`: the engine at work. Simple defenders meet the scripted attackers, thousands of episodes at once."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS, Host
from garrison.cage2.vector_env import VectorEnv

Defender = Callable[[NDArray[np.int8], int, np.random.Generator], NDArray[np.int64]]


@dataclass(frozen=True)
class Options:
    """Play simple defenders against the scripted attackers."""

    episodes: int = 10_000
    """Episodes of each pairing."""
    length: int = 100
    """Steps of an episode."""
    rules: str = "head"
    """head or leaderboard."""
    seed: int = 0
    """Seed of the first episode; the next one's is one more."""


def sleep(obs: NDArray[np.int8], t: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Do nothing."""
    return np.zeros(len(obs), np.int64)


def uniform(obs: NDArray[np.int8], t: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Do anything."""
    return random.integers(NUM_ACTIONS, size=len(obs))


def shield(obs: NDArray[np.int8], t: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Restore Op_Server0 in the first step, which protects its service for good (quirk Q1), then sleep."""
    return np.full(len(obs), 132 + Host.OP_SERVER0 if t == 0 else 0, np.int64)


def restore_what_was_hit(obs: NDArray[np.int8], t: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Restore the first host that is believed compromised, if any."""
    bits = obs.reshape(-1, NUM_HOSTS, 4)
    hosts = (bits[:, :, 2] | bits[:, :, 3]).astype(np.bool_)
    return np.where(hosts.any(axis=1), 132 + hosts.argmax(axis=1), 0)


DEFENDERS: dict[str, Defender] = {
    "sleep": sleep,
    "uniform": uniform,
    "shield": shield,
    "restore": restore_what_was_hit,
}


def play(defender: Defender, options: Options, red: str) -> NDArray[np.float64]:
    """Return the reward of each episode."""
    envs = VectorEnv(options.episodes, red=red, rules=options.rules, length=options.length, autoreset_mode="SameStep")
    obs, infos = envs.reset(seed=options.seed)
    random = np.random.default_rng(options.seed)
    for t in range(options.length):
        obs, *_, infos = envs.step(defender(obs, t, random))
    returns: NDArray[np.float64] = infos["episode"]["r"]
    return returns


def main(arguments: list[str]) -> int:
    """Play every pairing and print the mean rewards."""
    import tyro

    options: Any = tyro.cli(Options, args=arguments, prog="garrison demo")
    print(f"mean reward of {options.episodes} episodes of {options.length} steps, {options.rules} rules, ± 95 %")
    print(f"{'defender':<10}" + "".join(f"{red:>22}" for red in ("bline", "meander", "sleep")))
    began, steps = perf_counter(), 0
    for name, defender in DEFENDERS.items():
        cells = []
        for red in ("bline", "meander", "sleep"):
            returns = play(defender, options, red)
            steps += options.episodes * options.length
            cells.append(f"{returns.mean():.2f} ± {1.96 * returns.std() / len(returns) ** 0.5:.2f}")
        print(f"{name:<10}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    seconds = perf_counter() - began
    print(f"{steps:,} steps in {seconds:.1f} s, defenders included: {steps / seconds / 1e6:.1f} million a second")
    return 0
