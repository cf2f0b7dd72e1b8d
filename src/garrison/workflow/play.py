"""Measure how defenders follow orders: environment reward, alignment and compliance, each with its confidence."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from garrison.agents.forward import network_of
from garrison.agents.protocol import Agent
from garrison.cage2 import VectorEnv
from garrison.cage2.observe import NUM_BITS
from garrison.learn.registry import learner_section
from garrison.tasks.cage2 import Cage2Settings
from garrison.workflow.scores import Score
from garrison.workflow.settings import WorkflowConfig
from garrison.workflow.workflow_task import make_workflow_envs


class Defender(Protocol):
    """Chooses actions in environments that follow one order."""

    @property
    def name(self) -> str:
        """What results call it."""

    @property
    def interface(self) -> dict[str, Any]:
        """The settings `challenge_encoder`, `observation` and `actions` of the environments that it plays in."""

    def begin(self, envs: VectorEnv, order: int, seed: int) -> None:
        """Get ready for new episodes under an order."""

    def act(self, envs: VectorEnv) -> NDArray[np.int64]:
        """Return one action for each environment."""


class NetworkDefender:
    """A network that is shown the order, as it was trained; takes the likeliest action or draws one."""

    def __init__(self, values: dict[str, Any], name: str, sample: bool = False) -> None:
        env = values["experiment"]["env"]
        self.name, self._sample = name, sample
        self.interface: dict[str, Any] = {
            "challenge_encoder": env["challenge_encoder"],
            **{key: env[key] for key in ("observation", "actions")},
        }
        self._masked = bool(learner_section(values["experiment"]).get("action_masks", False))
        self._network = network_of(values["policy"], values["state"]["weights"])

    def begin(self, envs: VectorEnv, order: int, seed: int) -> None:
        """Start with an empty memory."""
        self._random = np.random.default_rng(seed)
        self._network.begin(envs.num_envs)
        self._starts = np.ones(envs.num_envs, np.bool_)

    def act(self, envs: VectorEnv) -> NDArray[np.int64]:
        """Return the network's choices."""
        logits = self._network.logits(envs.observations, self._starts)
        self._starts[:] = False
        if self._masked:
            logits[~envs.action_masks()] = -np.inf
        if self._sample:  # the largest of logits with Gumbel noise has the probabilities of the softmax
            logits += self._random.gumbel(size=logits.shape).astype(np.float32)
        choices: NDArray[np.int64] = logits.argmax(axis=1)
        return choices


class AgentDefender:
    """Any agent of the challenge: sees the 52 observations, chooses among the 145 actions.

    Args:
        make: returns a new agent for an order and its environments.
        name: what results call it.
        encoder: which 52 observations it reads.
    """

    def __init__(self, make: Callable[[int, VectorEnv], Agent], name: str, encoder: str = "challenge") -> None:
        self.name, self._make = name, make
        self.interface: dict[str, Any] = {"challenge_encoder": encoder, "observation": "bits", "actions": "all"}

    def begin(self, envs: VectorEnv, order: int, seed: int) -> None:
        """Make the agent for this order."""
        self._agent = self._make(order, envs)
        self._agent.begin(envs.num_envs, seed)

    def act(self, envs: VectorEnv) -> NDArray[np.int64]:
        """Ask the agent."""
        return self._agent.act(envs.observations[:, :NUM_BITS])


def play(
    defender: Defender, env: Cage2Settings, workflow: WorkflowConfig, order: int, episodes: int, seed: int = 0
) -> Score:
    """Play `episodes` episodes under one order; the same seed gives every order and defender the same attackers."""
    settings = dataclasses.replace(env, **defender.interface)
    envs = make_workflow_envs(settings, workflow, [order] * episodes, autoreset_mode="Disabled")
    seeds = np.random.SeedSequence((seed, env.length)).generate_state(episodes, np.uint64)
    envs.reset(seed=seeds.tolist())
    defender.begin(envs, order, seed)
    for _ in range(env.length):
        envs.step(defender.act(envs))
    score = Score.of(order, envs.workflow)
    envs.close()
    return score


def play_orders(
    defender: Defender, env: Cage2Settings, workflow: WorkflowConfig, orders: Sequence[int], episodes: int, seed: int
) -> list[Score]:
    """Play every order."""
    return [play(defender, env, workflow, order, episodes, seed) for order in orders]
