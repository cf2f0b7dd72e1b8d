"""When a learner says that it has started: after everything is compiled, with the first collected step."""

from typing import Any

import numpy as np
import pytest

from garrison.learn import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig, RunLog, ppo, train
from garrison.learn.nn.compiled import CompiledNetwork
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import Log, same

SMALL: dict[str, Any] = {"steps": 200, "rollout": 25, "policy": PolicyConfig(hidden=(16,))}
CONFIGS = [
    PPOConfig(minibatches=2, **SMALL),
    ImpalaConfig(actors=0, **SMALL),
    ImpalaConfig(actors=1, **SMALL),
    A3CConfig(actors=1, **SMALL),
]


class Story(RunLog):
    """Notes what happens in its order; shared with whoever else has something to note."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def started(self) -> None:
        self.events.append("started")

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.events.append("log")


@pytest.mark.parametrize(
    "config", CONFIGS, ids=lambda config: f"{type(config).__name__}-{getattr(config, 'actors', 0)}"
)
def test_a_learner_starts_once_before_it_logs(config: Any) -> None:
    story = Story()
    train(config, BitsEnv, 4, story)
    assert story.events[0] == "started"
    assert story.events.count("started") == 1
    assert "log" in story.events


@pytest.mark.parametrize("config", CONFIGS[:3], ids=["ppo", "impala inline", "impala"])
def test_all_is_compiled_before_the_first_step_counts(config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story()
    learn = CompiledNetwork.learn

    def noted(self: Any, *arguments: Any) -> Any:
        story.events.append("learn")
        return learn(self, *arguments)

    monkeypatch.setattr(CompiledNetwork, "learn", noted)
    train(config, BitsEnv, 4, story)
    assert story.events[:3] == ["learn", "started", "learn"]


def test_ppo_starts_with_the_first_step_of_the_environments() -> None:
    steps: list[int] = []

    class Counting(BitsEnv):
        def step(self, actions: Any) -> Any:
            steps.append(0)
            return super().step(actions)

    class Asking(RunLog):
        def started(self) -> None:
            assert len(steps) == 1

    ppo.train(CONFIGS[0], Counting(4), run=Asking())
    assert len(steps) == 50


@pytest.mark.parametrize("policy", [PolicyConfig(hidden=(16,)), PolicyConfig(hidden=(16,), recurrent_size=8)])
def test_rehearsing_changes_nothing(policy: PolicyConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    config = PPOConfig(steps=200, rollout=25, minibatches=2, policy=policy)
    begun = ppo.train(config, BitsEnv(4), run=Log(updates=1)).state
    rehearsed = [ppo.train(config, BitsEnv(4), resume=state).state for state in (None, begun)]
    monkeypatch.setattr(ppo, "rehearse", lambda *arguments: None)
    plain = [ppo.train(config, BitsEnv(4), resume=state).state for state in (None, begun)]
    assert all(map(same, rehearsed, plain))
    assert np.isfinite(plain[0]["weights"].numpy()).all()
