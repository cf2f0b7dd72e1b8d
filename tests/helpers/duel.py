"""Short words for playing single episodes in tests."""

from typing import Any

import numpy as np

from garrison.cage2.names import ACTIONS, HOSTS, SUBNETS, RedKind, Success
from garrison.cage2.vector_env import VectorEnv

ACTION = {action.name: action.id for action in ACTIONS}
HOST = {name: h for h, name in enumerate(HOSTS)}


class Duel:
    """One environment in which the test plays both sides by name."""

    def __init__(self, seed: int = 0, **settings: Any) -> None:
        self.envs = VectorEnv(1, red="external", **{"length": 1000, **settings})
        self.envs.reset(seed=seed)
        self.reward = 0.0

    def turn(self, blue: str = "Sleep", red: str = "Sleep") -> bool:
        """Play `Restore User1` against `exploit User1`; return whether Red succeeded."""
        kind, _, target = red.partition(" ")
        code = getattr(RedKind, kind.upper())
        place = 0 if not target else SUBNETS.index(target) if code == RedKind.SWEEP else HOST[target]
        actions = {"blue": np.array([ACTION[blue]]), "red": np.array([[code, place]])}
        self.obs, rewards, *_ = self.envs.step(actions)
        self.reward = float(rewards[0])
        return bool(self.truth("red_success") == Success.YES)

    def red(self, *turns: str) -> None:
        """Play Red's turns against a sleeping Blue; every one must succeed."""
        for red in turns:
            assert self.turn(red=red), red

    def own(self, host: str) -> None:
        """Let Red take a host until it is privileged there, however often the exploit fails."""
        self.red(f"scan {host}")
        while not self.turn(red=f"exploit {host}"):
            pass
        self.red(f"escalate {host}")

    def truth(self, field: str, host: str | None = None) -> Any:
        values = getattr(self.envs.truth, field)[0]
        return values if host is None else values[HOST[host]]

    def sees(self, host: str) -> tuple[str, str]:
        """Return Blue's activity and belief about a host."""
        bits = self.obs[0, 4 * HOST[host] : 4 * HOST[host] + 4].tolist()
        activity = {(0, 0): "None", (1, 0): "Scan", (1, 1): "Exploit"}[bits[0], bits[1]]
        belief = {(0, 0): "No", (1, 0): "Unknown", (0, 1): "User", (1, 1): "Privileged"}[bits[2], bits[3]]
        return activity, belief
