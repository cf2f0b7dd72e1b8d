"""How a network that was trained in a CAGE-2 batch plays the challenge's own game."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.agents.belief_book import BeliefBook
from garrison.agents.protocol import Bits, Choices, Flags
from garrison.belief.belief_bits import NUM_BELIEF_BITS
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.agent_memory import allow_batch, remember_batch
from garrison.cage2.layout import MEMORY, NUM_UNITS
from garrison.cage2.names import NUM_ACTIONS
from garrison.cage2.observation_sets import choose_observation
from garrison.cage2.scenario import load_scenario
from garrison.cage2.workflow import ORDER_BITS, ORDERS
from garrison.errors import UserError, choose
from garrison.jit import records


class Cage2View:
    """Translates: the challenge's 52 observations to a network's inputs, its choices to the challenge's 145 actions.

    It keeps what the batch kept for the network in training: the memory of each environment, if the network's inputs
    show one, what is believed about it, if they show that, the last actions, and the masks.

    Args:
        size: how many inputs the network has.
        outputs: how many logits it gives.
        rules: the rules that it was trained under.
        encoder: which 52 observations it reads.
        observation: what it was trained on, see `garrison.cage2.observation_sets`.
        actions: the set of actions that it chooses from, see `garrison.cage2.action_sets`.
        masked: whether it leaves out the actions that it knows to be refused.
        order: the index of the workflow's order that it is shown behind all else; None if it was trained without.
        belief: whether it is shown a belief behind that, see `garrison.belief.belief_bits`.
    """

    def __init__(
        self,
        size: int,
        outputs: int,
        rules: str,
        encoder: str,
        observation: str,
        actions: str,
        masked: bool,
        order: int | None = None,
        belief: bool = False,
    ) -> None:
        self._masked = masked
        self._action_ids = ACTION_IDS[choose("actions", actions, tuple(ACTION_IDS))]
        if outputs != len(self._action_ids):
            raise UserError(f"the network chooses from {outputs} actions, but {actions!r} are {len(self._action_ids)}.")
        scenario = load_scenario(None, rules, encoder)
        num_bits = choose_observation(scenario, observation) + (0 if order is None else ORDER_BITS)
        self._order, self._size = order, num_bits
        self._book = BeliefBook(rules, encoder) if belief else None
        num_bits += NUM_BELIEF_BITS if belief else 0
        if size != num_bits:
            what = f"observation {observation!r}" + (" with a belief" if belief else "")
            raise UserError(f"the network has {size} inputs, but {what} has {num_bits}.")
        self._scenario = records(scenario)

    @property
    def misses(self) -> NDArray[np.int64]:
        """How often each environment's belief has missed in this episode; only if it shows one."""
        assert self._book is not None
        return self._book.beliefs.misses

    def begin(self, num_envs: int) -> None:
        """Start with an empty memory for each environment."""
        self._memories = records(np.zeros(num_envs, MEMORY))
        self._last = np.zeros(num_envs, np.int64)
        if self._book is not None:
            self._book.begin(num_envs)
        self._make_buffers(num_envs)

    def _make_buffers(self, num_envs: int) -> None:
        self._inputs = np.zeros((num_envs, self._size), np.int8)
        if self._order is not None:
            self._inputs[:, -ORDER_BITS:] = np.eye(NUM_UNITS, dtype=np.int8)[ORDERS[self._order]].reshape(-1)
        self._with_belief = np.zeros((num_envs, self._size + NUM_BELIEF_BITS if self._book else 0), np.int8)
        self._masks = np.ones((num_envs, NUM_ACTIONS), np.bool_)

    def clone(self, rows: NDArray[np.intp]) -> Self:
        """Return a view with copies of the memories of these environments."""
        twin = copy.copy(self)
        twin._memories, twin._last = records(np.asarray(self._memories[rows])), self._last[rows]
        twin._book = None if self._book is None else self._book.clone(rows)
        twin._make_buffers(len(rows))
        return twin

    def memory(self) -> NDArray[np.uint8] | None:
        """Return what is kept for each environment, as bytes; None with beliefs, which have no fixed size."""
        if self._book is not None:
            return None
        kept = (np.asarray(self._memories), self._last)
        return np.hstack([part.view(np.uint8).reshape(len(part), -1) for part in kept])

    def inputs(self, observations: NDArray[Any], starts: Flags) -> Bits:
        """Return the network's inputs; the memory is forgotten where an episode starts."""
        remember_batch(self._memories, self._scenario, starts, self._last, observations, self._inputs)
        if self._book is None:
            return self._inputs
        self._book.reset(starts)
        self._book.took(self._last)
        self._book.see(observations)
        self._with_belief[:, : self._size] = self._inputs
        self._book.beliefs.write_bits(self._with_belief[:, self._size :])
        return self._with_belief

    def forbid(self, logits: NDArray[np.float32]) -> None:
        """Make the logits of refused actions so low that they are never taken, if the network was trained so."""
        if self._masked:
            allow_batch(self._memories, self._scenario, self._masks)
            logits[~self._masks[:, self._action_ids]] = -np.inf

    def actions(self, choices: Choices) -> Choices:
        """Return the challenge's actions for the network's choices, and remember them."""
        self._last = self._action_ids[choices]
        return self._last

    def took(self, actions: Choices) -> None:
        """Remember other actions of the challenge than those that were chosen."""
        self._last = np.array(actions, np.int64)

    def spread(self, choices: NDArray[Any]) -> NDArray[Any]:
        """Return a column for each of the challenge's actions, from one for each of the network's choices."""
        columns = np.zeros((len(choices), NUM_ACTIONS), choices.dtype)
        columns[:, self._action_ids] = choices
        return columns
