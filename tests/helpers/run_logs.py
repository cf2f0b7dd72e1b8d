"""Followers of a training that keep what they are told, and the comparison of what it leaves."""

from typing import Any

import torch

from tests.helpers.processes import descendants


class Log:
    """Keeps everything; stops after `updates` updates."""

    def __init__(self, updates: int = 10**9) -> None:
        self.updates = updates
        self.metrics: list[dict[str, float]] = []
        self.steps: list[int] = []
        self.states: list[dict[str, Any]] = []

    @property
    def stop(self) -> bool:
        return len(self.metrics) >= self.updates

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.steps.append(step)
        self.metrics.append(metrics)

    def due_checkpoint(self, step: int) -> bool:
        return False

    def checkpoint(self, state: dict[str, Any]) -> None:
        self.states.append(state)


class Talking(Log):
    """Also keeps what is said, and which processes it saw."""

    def __init__(self, updates: int = 10**9) -> None:
        super().__init__(updates)
        self.said: list[str] = []
        self.family: set[int] = set()

    def log(self, step: int, metrics: dict[str, float]) -> None:
        super().log(step, metrics)
        self.family |= descendants()

    def say(self, text: str) -> None:
        self.said.append(text)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
