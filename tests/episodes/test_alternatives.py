"""What if: beside the same question asked one environment at a time, and where the answer is known."""

from typing import Any

import numpy as np
import pytest
import torch

from garrison.agents import NetworkAgent, load_agent
from garrison.agents.forward import TorchNetwork
from garrison.agents.load import SHIPPED
from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.rng import seed_streams
from garrison.episodes import alternatives
from garrison.episodes.alternatives import what_if
from garrison.episodes.episode import Episode
from garrison.episodes.game import Game
from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.description import build_policy
from garrison.learn.nn.policy import Policy
from garrison.storage import checkpoint
from tests.helpers.duel import ACTION
from tests.helpers.scripts import episode_of

GAME = Game("meander", 16, "leaderboard")


class Uncloned:
    """An agent that plays as another and cannot be cloned."""

    def __init__(self, agent: Any) -> None:
        self.name, self.encoder, self.rules = agent.name, agent.encoder, agent.rules
        self.begin, self.reset, self.act, self.took = agent.begin, agent.reset, agent.act, agent.took


def means(found: dict[str, Any], step: int) -> dict[int, float]:
    row = found["steps"][str(step)]
    return dict(zip(row["actions"], row["mean"], strict=True))


def test_against_nobody_only_restore_costs() -> None:
    game = Game("sleep", 12)
    found = what_if(load_agent("sleep"), game, episode_of(load_agent("sleep"), game), [0, 11], continuations=3)
    for step in (0, 11):
        assert means(found, step) == {a: -1.0 if 132 <= a < 145 else 0.0 for a in range(145)}
        row = found["steps"][str(step)]
        assert (row["played"], row["regret"], row["regret_ci95"], set(row["ci95"])) == (0, 0.0, 0.0, {0.0})
        assert row["mean"] == sorted(row["mean"], reverse=True)


def test_regret_is_what_the_best_action_would_have_saved() -> None:
    game = Game("sleep", 20)
    episode = episode_of(load_agent("react-restore"), game)
    found = what_if(load_agent("react-restore"), game, episode, [1, 13], continuations=2)
    # Whatever it does, it goes on with its round: of the 19 and 7 steps from here on, all but a Monitor restore.
    assert means(found, 1)[ACTION["Sleep"]] == -17
    assert means(found, 1)[ACTION["Restore Defender"]] == -18
    assert found["steps"]["1"]["regret"] == 1.0
    assert found["steps"]["13"]["regret"] == 0.0


def brute_force(policy: Any, episode: Episode, step: int, action: int, stream: Any) -> float:
    """Return one continuation of the shipped agent, in an environment that keeps the memory by itself."""
    envs = VectorEnv(
        1, red="meander", rules="leaderboard", length=episode.length, observation="memory", actions="compact"
    )
    ids = ACTION_IDS["compact"]
    seen, _ = envs.reset(seed=[episode.seed])
    total = 0.0
    for t in range(episode.length):
        if t == step:
            state = envs.get_state()
            state["stream"] = stream
            envs.set_state(state)
            chosen = action
        elif t < step:
            chosen = episode.turn["blue_action"][t]
        else:
            logits = policy((torch.from_numpy(seen.astype(np.float32)),))[0].detach().numpy()[0].copy()
            logits[~envs.action_masks()[0]] = -np.inf
            chosen = ids[logits.argmax()]
        seen, rewards, *_ = envs.step(np.searchsorted(ids, [chosen]))
        total += rewards[0] if t >= step else 0.0
    return float(total)


def test_a_network_with_a_memory_goes_on_as_one_environment_at_a_time() -> None:
    values = checkpoint.load(SHIPPED["record-1"])
    policy = build_policy(values["policy"], values["state"]["weights"])
    agent = load_agent("record-1")
    episode = episode_of(agent, GAME, 7)
    found = what_if(agent, GAME, episode, [3, 9], continuations=4, seed=5)
    names = ("Sleep", "Restore User1", "DecoyFemitter Enterprise2", "DecoyTomcat Enterprise0", "Remove User3")
    for step in (3, 9):
        seeds = np.random.SeedSequence((5, step)).generate_state(4, np.uint64)
        streams = seed_streams(seeds.tolist())
        for action in [ACTION[name] for name in names]:
            expected = [brute_force(policy, episode, step, action, stream) for stream in streams]
            assert means(found, step)[action] == pytest.approx(np.mean(expected), abs=1e-3), (step, action)
            at = found["steps"][str(step)]["actions"].index(action)
            ci95 = 1.96 * np.std(expected, ddof=1) / 2
            assert found["steps"][str(step)]["ci95"][at] == pytest.approx(ci95, abs=1e-3)


def recurrent_agent(sample: bool = False) -> NetworkAgent:
    envs = VectorEnv(1, observation="memory", actions="compact")
    config = PolicyConfig(hidden=(8,), recurrent_size=6)
    policy = Policy(envs.single_observation_space, envs.single_action_space, config, seed=4)
    policy.flat.copy_(torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(1)))
    return NetworkAgent(TorchNetwork(policy), observation="memory", actions="compact", masked=True, sample=sample)


@pytest.mark.parametrize("make", [lambda: load_agent("record"), recurrent_agent], ids=["memory", "gru"])
def test_an_agent_that_cannot_be_cloned_is_shown_the_episode_again(make: Any) -> None:
    episode = episode_of(make(), GAME, 3)
    asked: dict[str, Any] = {"steps": [0, 7, 8, 15], "continuations": 2}
    assert what_if(make(), GAME, episode, **asked) == what_if(Uncloned(make()), GAME, episode, **asked)


@pytest.mark.parametrize("wrap", [lambda agent: agent, Uncloned], ids=["cloned", "shown again"])
def test_what_a_drawing_agent_did_in_the_episode_is_what_it_remembers(wrap: Any) -> None:
    # Its memory holds its own actions; it must not take those that it would have chosen for them.
    episode = episode_of(load_agent("record", sample=True), GAME, 3)
    assert episode.policy is not None
    actions = np.array(episode.turn["blue_action"])
    _, observations = alternatives._replay(GAME, 3, actions)
    agent = load_agent("record", sample=True)
    memory = alternatives.Memory(wrap(agent), observations, actions)
    for t in (2, 9, 14):
        twin = memory.agent_at(t, np.repeat(actions[t], 3), 0)
        twin.act(np.repeat(observations[t + 1 : t + 2], 3, axis=0))
        odds = getattr(twin, "explain", agent.explain)().probabilities
        for action, expected in episode.policy["top"][t + 1]:
            assert odds[:, action] == pytest.approx([expected] * 3, abs=1e-4)


def test_a_script_that_remembers_its_actions_is_told_what_blue_did() -> None:
    # alert-restore fixes only what it sees right after its own Monitor.
    game = Game("bline", 20)
    agent = load_agent("alert-restore")
    episode = episode_of(agent, game, 1)
    step = next(t for t, text in enumerate(episode.turn["seen_text"]) if "exploit on User" in text)
    agent.begin(2)
    told = alternatives.Memory(agent, np.zeros((step + 1, 52), np.int8), np.array(episode.turn["blue_action"]))
    agent = told.agent_at(step, np.array([ACTION["Monitor"], ACTION["Sleep"]]), 0)
    bits = np.zeros((2, 52), np.int8)
    bits[:, 4 * 9 : 4 * 9 + 2] = 1  # an exploit on User1
    assert agent.act(bits).tolist() == [ACTION["Restore User1"], ACTION["Monitor"]]


def test_the_same_question_has_the_same_answer_whatever_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load_agent("record")
    episode = episode_of(agent, GAME, 7)
    whole = what_if(agent, GAME, episode, [2, 5, 11], continuations=3)
    assert what_if(agent, GAME, episode, [5], continuations=3)["steps"]["5"] == whole["steps"]["5"]
    monkeypatch.setattr(alternatives, "CHUNK", 50)
    assert what_if(agent, GAME, episode, [2, 5, 11], continuations=3) == whole
    assert what_if(agent, GAME, episode, [5], continuations=3, seed=1)["steps"]["5"] != whole["steps"]["5"]


def test_the_top_actions_are_tried_and_what_was_played() -> None:
    agent = load_agent("record", sample=True)
    episode = episode_of(agent, GAME, 1)
    assert episode.policy is not None
    found = what_if(agent, GAME, episode, top=2, continuations=2)
    assert list(found["steps"]) == [str(t) for t in range(16)]
    for t in range(16):
        likeliest = {a for a, _ in episode.policy["top"][t][:2]}
        assert set(found["steps"][str(t)]["actions"]) == likeliest | {episode.turn["blue_action"][t]}
        assert found["steps"][str(t)]["played"] == episode.turn["blue_action"][t]
    assert found["continuations"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": [16]}, "numbered 0 to 15; got 16"),
        ({"steps": [-1]}, "numbered 0 to 15; got -1"),
        ({"steps": []}, "got none"),
        ({"continuations": 1}, "at least 2 continuations"),
        ({"top": 3}, "has no probabilities"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: dict[str, Any], message: str) -> None:
    agent = load_agent("sleep")
    with pytest.raises(UserError, match=message):
        what_if(agent, GAME, episode_of(agent, GAME), **arguments)
