"""Beliefs about episodes: every true state that is possible, with its probability, from what Blue did and saw.

Each step, the outcomes of every possible state are enumerated (`garrison.belief.branching`); those that show Blue what
it was shown are possible now, and equal ones are merged. This is Bayes' rule, without samples and without luck. Nothing
else enters: not the true state, not who attacks, not when the episode ends.

`Beliefs` are those about a batch of environments, each by itself; `Belief` is the one about a single episode.
"""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.belief.belief_bits import write_belief_bits
from garrison.belief.belief_settings import BeliefSettings
from garrison.belief.merging import States, as_words
from garrison.belief.updating import Counts, Sets, Weights, make_desk, settle, update_rows, weigh_rows
from garrison.cage2.layout import MAX_LENGTH, STATE
from garrison.cage2.names import DEFAULT_ENCODER, DEFAULT_RULES, NUM_ACTIONS, NUM_HOSTS, REDS, SCRIPTED_REDS, Access
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.scenario import load_scenario
from garrison.cage2.step import first_outside
from garrison.cage2.vector_env import VectorEnv
from garrison.contract.resets import whole
from garrison.errors import UserError
from garrison.jit import records

Flags = NDArray[np.bool_]

NUM_ACCESS = len(Access)
FEW = 16
"""States of an environment that there is room for at first, a power of two; most have fewer. It is doubled where it is
too little"""
MANY = 64
"""The same for the outcomes of a step that fit"""


class Beliefs:
    """What Blue can know about the episodes of a batch; what is believed of one depends on no other.

    Kernels run without the GIL: threads that each have beliefs of their own work side by side.

    Args:
        num_envs: how many environments there are.
        rules: the rules that are played.
        encoder: which 52 observations Blue is shown.
        settings: see `BeliefSettings`.
    """

    misses: Counts
    """Steps in each episode after which no state fitted what was shown, so that the nearest ones were kept"""

    _sets: Sets
    _states: States
    """The memory of their words, as records"""

    def __init__(
        self,
        num_envs: int,
        rules: str = DEFAULT_RULES,
        encoder: str = DEFAULT_ENCODER,
        settings: BeliefSettings | None = None,
    ) -> None:
        whole("num_envs", num_envs, 1, None)
        self.settings = settings or BeliefSettings()
        self._scenario = load_scenario(None, rules, encoder)
        self._desk = make_desk(MANY)
        self._first, self._first_weights = self._nothing_seen(rules, encoder)
        self.misses = np.zeros(num_envs, np.int64)
        self._take_room(np.zeros(num_envs, np.int64))
        self.begin()

    def _nothing_seen(self, rules: str, encoder: str) -> tuple[States, Weights]:
        """Return what is possible when an episode begins: that any of the attackers plays."""
        reds = [name for name, odds in self.settings.prior.items() if odds > 0]
        envs = VectorEnv(len(reds), red=reds, rules=rules, encoder=encoder, length=MAX_LENGTH)
        envs.reset(seed=0)
        states, odds = envs.get_state(), np.array([self.settings.prior[name] for name in reds])
        envs.close()
        found, weights = np.zeros(len(reds), STATE), np.zeros(len(reds))
        limits = self.settings.most_states, self.settings.least_weight
        kept = settle(as_words(states), odds, self._desk.pool, as_words(found), weights, *limits)
        return found[:kept], weights[:kept]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_desk": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on where another left off, at a desk of its own: two may be at work at a time."""
        self.__dict__.update(state)
        self._sets = self._sets._replace(words=as_words(self._states))  # the same memory again
        self._desk = make_desk(MANY)

    def __len__(self) -> int:
        return len(self.misses)

    def __getitem__(self, row: int) -> "Belief":
        """Return what is believed about one environment; it goes on with these."""
        return Belief._of(self, range(len(self))[row])

    def __iter__(self) -> Iterator["Belief"]:
        return (self[row] for row in range(len(self)))

    def begin(self, mask: Flags | None = None) -> None:
        """Forget everything where `mask` says so, by default everywhere: new episodes begin."""
        rows = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
        slots = self._sets.places[rows, None] + np.arange(len(self._first))
        self._sets.words[slots], self._sets.weights[slots] = as_words(self._first), self._first_weights
        self._sets.counts[rows], self.misses[rows] = len(self._first), 0

    def update(self, actions: NDArray[Any], observations: NDArray[Any], mask: Flags | None = None) -> None:
        """Take in what Blue did and was shown then.

        Args:
            actions: (num_envs,) of the 145 actions.
            observations: (num_envs, 52).
            mask: (num_envs,) the environments that were stepped, by default all.
        """
        actions, observations = np.asarray(actions), np.asarray(observations)
        if actions.shape != (len(self),) or actions.dtype.kind not in "iu":
            raise UserError(f"there must be {len(self)} actions; got {actions.dtype} of the shape {actions.shape}.")
        if observations.shape != (len(self), NUM_BITS):
            wanted = f"{len(self)} observations of {NUM_BITS} bits"
            raise UserError(f"there must be {wanted}; got an array of {observations.shape}.")
        rows = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
        chosen = actions[rows].astype(np.int64)
        if (wrong := first_outside(chosen, 0, NUM_ACTIONS)) >= 0:
            raise UserError(f"action must lie between 0 and {NUM_ACTIONS - 1}; got {chosen[wrong]}.")
        self._update(rows, chosen, observations[rows].astype(np.int8))

    def _update(self, rows: Counts, actions: Counts, shown: NDArray[np.int8]) -> None:
        scenario, limits = records(self._scenario), (self.settings.most_states, self.settings.least_weight)
        place = 0
        while place < len(rows):
            place = update_rows(self._sets, self.misses, rows, actions, shown, place, scenario, self._desk, *limits)
            if place < len(rows):
                self._make_room()

    def _make_room(self) -> None:
        """Double the room of what was too small, the desk for outcomes, or take more for the sets of states."""
        if self._desk.pool.tally[1]:
            self._desk = make_desk(2 * len(self._desk.pool.weights))
            return
        old, slots = self._sets, self._slots(np.arange(len(self)))
        self._take_room(old.counts, int(1.5 * len(slots)) + 2 * self.settings.most_states)
        self._fill(old, slots)

    def _take_room(self, counts: Counts, spare: int = 0) -> None:
        """Take memory for so many states of each environment and some more, and for others that need more later."""
        doublings = np.ceil(np.log2(np.maximum(counts, len(self._first)) / FEW)).clip(0)
        rooms = FEW << doublings.astype(np.int64)
        ends, used = np.cumsum(rooms), int(rooms.sum())
        self._states, weights = np.zeros(used + spare, STATE), np.zeros(used + spare)
        self._sets = Sets(as_words(self._states), weights, ends - rooms, rooms, counts.copy(), np.array([used]))

    def _slots(self, rows: NDArray[np.intp]) -> Counts:
        """Return where the states of these environments stand, one environment after the other."""
        counts = self._sets.counts[rows]
        begins = np.cumsum(counts) - counts
        return np.repeat(self._sets.places[rows] - begins, counts) + np.arange(counts.sum())

    def _fill(self, source: Sets, slots: Counts) -> None:
        """Copy the states of all environments from these slots."""
        own = self._slots(np.arange(len(self)))
        self._sets.words[own], self._sets.weights[own] = source.words[slots], source.weights[slots]

    def states(self, row: int) -> States:
        """Return what is possible in an environment, each state once.

        These are records of `garrison.cage2.layout.STATE` without their past (`merging.py`); the next update
        overwrites them.
        """
        return self._states[self._span(row)]

    def weights(self, row: int) -> Weights:
        """Return their probabilities, which sum to 1; the largest first, of equal ones that of the lower digest."""
        return self._sets.weights[self._span(row)]

    def _span(self, row: int) -> slice:
        first = self._sets.places[row]
        return slice(first, first + self._sets.counts[row])

    def access(self) -> Weights:
        """Return (num_envs, hosts, 3): the probability that Red has no session there, a user's, a privileged one."""
        return self._weigh(slice(None))[0]

    def reds(self) -> dict[str, Weights]:
        """Return the probability of each attacker, (num_envs,)."""
        odds = self._weigh(slice(None))[1]
        return {name: odds[:, REDS.index(name)] for name in SCRIPTED_REDS}

    def _weigh(self, rows: slice) -> tuple[Weights, Weights]:
        places, counts = self._sets.places[rows], self._sets.counts[rows]
        access, reds = np.zeros((len(counts), NUM_HOSTS, NUM_ACCESS)), np.zeros((len(counts), len(REDS)))
        weigh_rows(records(self._states), self._sets.weights, places, counts, access, reds)
        return access, reds

    def write_bits(self, bits: NDArray[np.int8]) -> None:
        """Write what is believed as bits, (num_envs, NUM_BELIEF_BITS), see `belief_bits`."""
        sets = self._sets
        write_belief_bits(records(self._states), sets.weights, sets.places, sets.counts, bits)

    def clone(self, rows: NDArray[np.intp] | None = None) -> Self:
        """Return beliefs that know the same of these environments, by default of all, and go on by themselves."""
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows)
        twin = copy.copy(self)
        twin.misses = self.misses[chosen]
        twin._take_room(self._sets.counts[chosen])
        twin._fill(self._sets, self._slots(chosen))
        return twin


class Belief:
    """What Blue can know about an episode under way.

    Args:
        rules: the rules that are played.
        encoder: which 52 observations Blue is shown.
        settings: see `BeliefSettings`.
    """

    def __init__(
        self, rules: str = DEFAULT_RULES, encoder: str = DEFAULT_ENCODER, settings: BeliefSettings | None = None
    ) -> None:
        self._batch, self._row = Beliefs(1, rules, encoder, settings), 0

    @classmethod
    def _of(cls, batch: Beliefs, row: int) -> Self:
        belief = cls.__new__(cls)
        belief._batch, belief._row = batch, row
        return belief

    @property
    def settings(self) -> BeliefSettings:
        """What is assumed, and how much is kept."""
        return self._batch.settings

    @property
    def states(self) -> States:
        """What is possible now, each state once: records of `garrison.cage2.layout.STATE` without their past."""
        return self._batch.states(self._row).copy()

    @property
    def weights(self) -> Weights:
        """Their probabilities, which sum to 1; the largest first, of equal ones that of the lower digest."""
        return self._batch.weights(self._row).copy()

    @property
    def misses(self) -> int:
        """Steps in this episode after which no state fitted what was shown, so that the nearest ones were kept."""
        return int(self._batch.misses[self._row])

    def begin(self) -> None:
        """Forget everything: a new episode begins."""
        self._batch.begin(np.arange(len(self._batch)) == self._row)

    def update(self, action: int, observation: NDArray[Any]) -> None:
        """Take in what Blue did, one of the 145 actions, and the 52 bits that it was shown then."""
        number, bits = whole("action", action, 0, NUM_ACTIONS - 1), np.asarray(observation)
        if bits.shape != (NUM_BITS,):
            raise UserError(f"an observation has {NUM_BITS} bits; got an array of {bits.shape}.")
        self._batch._update(np.array([self._row]), np.array([number]), bits[None].astype(np.int8))

    def sample(self, count: int, random: np.random.Generator) -> States:
        """Return so many states, drawn by their weights as evenly as possible."""
        places = (np.arange(count) + random.random()) / count
        weights = self._batch.weights(self._row)
        chosen = np.searchsorted(np.cumsum(weights), places, side="right")
        return self._batch.states(self._row)[np.minimum(chosen, len(weights) - 1)]

    def reds(self) -> dict[str, float]:
        """Return the probability of each attacker."""
        odds = self._weigh()[1]
        return {name: float(odds[REDS.index(name)]) for name in SCRIPTED_REDS}

    def access(self) -> Weights:
        """Return (hosts, 3): the probability that Red has no session there, one as a user, a privileged one."""
        return self._weigh()[0]

    def _weigh(self) -> tuple[Weights, Weights]:
        access, reds = self._batch._weigh(slice(self._row, self._row + 1))
        return access[0], reds[0]

    def clone(self) -> Self:
        """Return a belief that knows the same and goes on by itself."""
        return self._of(self._batch.clone(np.array([self._row])), 0)
