"""Real models of Stable-Baselines3 as agents: they score what they score in Gymnasium's own loop."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import garrison
from garrison.agents import Sb3Agent
from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.errors import UserError

sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")

LENGTH = 12


def made(algorithm: str, **env: Any) -> Any:
    """Return a model of a small network; its weights are as they were drawn."""
    small: dict[str, Any] = {"policy_kwargs": {"net_arch": [8]}, "seed": 3}
    small |= {"buffer_size": 100} if algorithm == "DQN" else {}
    return getattr(sb3, algorithm)("MlpPolicy", gymnasium.make("garrison/CAGE2-v0", **env), device="cpu", **small)


@pytest.mark.parametrize(
    ("algorithm", "env"),
    [("PPO", {}), ("DQN", {}), ("A2C", {"observation": "memory", "actions": "compact", "rules": "leaderboard"})],
)
def test_a_model_plays_as_in_a_loop_of_its_own(algorithm: str, env: dict[str, Any]) -> None:
    model = made(algorithm, **env)
    agent = Sb3Agent(model, rules=env.get("rules"))
    theirs, ours = (
        VectorEnv(6, "meander", length=LENGTH, rules=env.get("rules", "head"), **kind)
        for kind in ({k: v for k, v in env.items() if k != "rules"}, {})
    )
    seen, (shown, _) = theirs.reset(seed=5)[0], ours.reset(seed=5)
    agent.begin(6)
    for _ in range(LENGTH):
        choices, _ = model.predict(seen, deterministic=True)
        seen, expected, *_ = theirs.step(choices)
        shown, rewards, *_ = ours.step(agent.act(shown))
        assert np.array_equal(rewards, expected)


def test_a_trained_model_is_evaluated_by_the_protocol() -> None:
    model = made("A2C")
    model.learn(20)
    found = garrison.evaluate(Sb3Agent(model, rules="leaderboard"), episodes=3, lengths=[LENGTH])
    assert found.trained_under == found.rules == "leaderboard"
    assert [cell.red for cell in found.cells] == ["bline", "meander", "sleep"]
    assert found.total == pytest.approx(sum(cell.mean for cell in found.cells))


def test_a_bare_model_is_told_how_to_wrap_it() -> None:
    with pytest.raises(UserError, match=r"garrison\.agents\.Sb3Agent\(model\)"):
        garrison.evaluate(made("PPO"), episodes=2)


def test_a_model_of_another_environment_is_refused() -> None:
    with pytest.raises(UserError, match="was not trained on garrison/CAGE2-v0"):
        Sb3Agent(sb3.PPO("MlpPolicy", "CartPole-v1", device="cpu"))


def test_an_actor_with_a_critic_explains_itself() -> None:
    model = made("PPO", observation="memory", actions="compact")
    episode = garrison.watch(Sb3Agent(model), length=LENGTH, what_if=[3], top=2, continuations=2).episodes[0]
    assert episode.policy is not None
    envs = VectorEnv(1, "meander", length=LENGTH, observation="memory", actions="compact")
    seen, _ = envs.reset(seed=[0])
    import torch

    for t, action in enumerate(episode.turn["blue_action"]):
        inputs, _ = model.policy.obs_to_tensor(seen)
        choice = np.searchsorted(ACTION_IDS["compact"], [action])
        with torch.no_grad():
            value, log_odds, _ = model.policy.evaluate_actions(inputs, torch.from_numpy(choice))
        assert episode.policy["value"][t] == pytest.approx(float(value[0, 0]), abs=1e-3)
        assert episode.policy["top"][t][0] == [action, pytest.approx(float(log_odds.exp()[0]), abs=1e-3)]
        assert episode.policy["masked"][t] == []
        seen, *_ = envs.step(choice)


def test_a_model_without_probabilities_is_watched_without() -> None:
    assert garrison.watch(Sb3Agent(made("DQN")), length=4).episodes[0].policy is None
