"""What the cluster's bench says of the parts of its loop."""

from types import SimpleNamespace
from typing import Any

import torch

from garrison.bench.suites.cluster_speed import TimedLoop

PAUSE = 1.6
TRAJECTORY = {"act": 0.010, "step": 0.005, "wait": 0.030, "fetch": 0.001}


class Transport:
    """Gives one trajectory after the other; every fourth actor was stopped while it fetched weights."""

    given = 0

    def receive(self, timeout: float) -> Any:
        self.given += 1
        paused = PAUSE if self.given % 4 == 0 else 0.0
        report = SimpleNamespace(times=TRAJECTORY | {"fetch": TRAJECTORY["fetch"] + paused}, version=0)
        return SimpleNamespace(report=report)

    def check(self) -> list[str]:
        return []

    def release(self, trajectory: Any) -> None:
        pass

    def publish(self, weights: Any, version: int) -> None:
        pass


class Gathered(list[Any]):
    """Full with one trajectory."""

    add = list.append

    @property
    def is_full(self) -> bool:
        return bool(self)


def test_pauses_of_actors_between_turns_are_no_part_of_their_times() -> None:
    learner, policy = SimpleNamespace(gathered=Gathered(), updates=0), SimpleNamespace(flat=torch.zeros(3))
    loop = TimedLoop(Transport(), learner, policy, steps=15, batch=1, learns=False)
    for _ in range(20):
        loop.advance()
    facts = loop.facts(on_ray=False)
    assert abs(facts["fetch_ms"] - 1.0) < 1e-9
    assert abs(facts["actors_wait"] - 30 / 46) < 1e-9
    assert abs(facts["actor_rate"] - 1000.0) < 1e-6
