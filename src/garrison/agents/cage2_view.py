"""How a network that was trained in a CAGE-2 batch plays the challenge's own game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.agents.protocol import Bits, Choices, Flags
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.agent_memory import allow_batch, remember_batch
from garrison.cage2.layout import MEMORY
from garrison.cage2.names import NUM_ACTIONS
from garrison.cage2.observation_sets import choose_observation
from garrison.cage2.scenario import load_scenario
from garrison.errors import UserError, choose
from garrison.jit import records


class Cage2View:
    """Translates: the challenge's 52 observations to a network's inputs, its choices to the challenge's 145 actions.

    It keeps what the batch kept for the network in training: the memory of each environment, if the network's inputs
    show one, the last actions, and the masks.

    Args:
        size: how many inputs the network has.
        outputs: how many logits it gives.
        rules: the rules that it was trained under.
        encoder: which 52 observations it reads.
        observation: what it was trained on, see `garrison.cage2.observation_sets`.
        actions: the set of actions that it chooses from, see `garrison.cage2.action_sets`.
        masked: whether it leaves out the actions that it knows to be refused.
    """

    def __init__(
        self, size: int, outputs: int, rules: str, encoder: str, observation: str, actions: str, masked: bool
    ) -> None:
        self._size, self._masked = size, masked
        self._action_ids = ACTION_IDS[choose("actions", actions, tuple(ACTION_IDS))]
        if outputs != len(self._action_ids):
            raise UserError(f"the network chooses from {outputs} actions, but {actions!r} are {len(self._action_ids)}.")
        scenario = load_scenario(None, rules, encoder)
        num_bits = choose_observation(scenario, observation)
        if size != num_bits:
            raise UserError(f"the network has {size} inputs, but observation {observation!r} has {num_bits}.")
        self._scenario = records(scenario)

    def begin(self, num_envs: int) -> None:
        """Start with an empty memory for each environment."""
        self._memories = records(np.zeros(num_envs, MEMORY))
        self._last = np.zeros(num_envs, np.int64)
        self._inputs = np.zeros((num_envs, self._size), np.int8)
        self._masks = np.ones((num_envs, NUM_ACTIONS), np.bool_)

    def inputs(self, observations: NDArray[Any], starts: Flags) -> Bits:
        """Return the network's inputs; the memory is forgotten where an episode starts."""
        remember_batch(self._memories, self._scenario, starts, self._last, observations, self._inputs)
        return self._inputs

    def forbid(self, logits: NDArray[np.float32]) -> None:
        """Make the logits of refused actions so low that they are never taken, if the network was trained so."""
        if self._masked:
            allow_batch(self._memories, self._scenario, self._masks)
            logits[~self._masks[:, self._action_ids]] = -np.inf

    def actions(self, choices: Choices) -> Choices:
        """Return the challenge's actions for the network's choices, and remember them."""
        self._last = self._action_ids[choices]
        return self._last
