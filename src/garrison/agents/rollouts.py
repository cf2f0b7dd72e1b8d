"""Games that are played to see what an action leads to: it is taken first, then the network plays on.

After some steps a game may be broken off, and the rest be taken from an `Outlook`: what somebody could still get who
sees everything. That is quicker, and less depends on luck.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from garrison.agents.equal_games import first_of_equal
from garrison.agents.network_agent import NetworkAgent
from garrison.agents.protocol import Choices
from garrison.belief.merging import as_words
from garrison.belief.state_stepper import States, Stepper
from garrison.cage2.layout import STATE
from garrison.limit.solved_games import Outlook

CHUNK = 1 << 12
"""Games that are played at a time, at most, unless one attempt has more: they fit a core's cache"""


@dataclass(frozen=True)
class Attempt:
    """Actions that are tried in one environment, each on the same states and with the same luck."""

    row: int
    """The environment, of those that the network plays in"""
    actions: Choices
    """(k,) the first actions"""
    states: States
    """(m,) what may be true"""
    luck: NDArray[np.uint32]
    """(steps, m, 4) random streams; each step begins a new one, so that games which went apart meet equal luck again"""
    shares: NDArray[np.float64]
    """(steps,) what a reward counts, of each step"""
    clock: int = 0
    """Steps that the episode has taken"""

    @property
    def games(self) -> int:
        """How many there are."""
        return len(self.actions) * len(self.states)


def play_attempts(
    policy: NetworkAgent, stepper: Stepper, attempts: Sequence[Attempt], outlook: Outlook | None = None
) -> list[NDArray[np.float64]]:
    """Return what each action of each attempt brought in each of its states, (k, m).

    `policy` has acted in the environments of the attempts; it is not changed. What the `outlook` says of the states in
    which the games are broken off is counted as well.
    """
    returns: list[NDArray[np.float64]] = []
    for some in _chunks(attempts):
        found = _play(policy, stepper, some, outlook)
        ends = np.cumsum([attempt.games for attempt in some])
        parts = np.split(found, ends[:-1])
        returns += [part.reshape(len(attempt.actions), -1) for part, attempt in zip(parts, some, strict=True)]
    return returns


def _chunks(attempts: Sequence[Attempt]) -> Iterator[list[Attempt]]:
    some: list[Attempt] = []
    for attempt in attempts:
        if some and sum(one.games for one in some) + attempt.games > CHUNK:
            yield some
            some = []
        some.append(attempt)
    if some:
        yield some


def _play(
    policy: NetworkAgent, stepper: Stepper, attempts: list[Attempt], outlook: Outlook | None
) -> NDArray[np.float64]:
    """Play all games of some attempts side by side."""
    games = [attempt.games for attempt in attempts]
    # As words, because NumPy copies records field by field.
    tried = [np.tile(as_words(attempt.states), (len(attempt.actions), 1)) for attempt in attempts]
    states = _as_states(np.concatenate(tried))
    actions = np.concatenate([np.repeat(attempt.actions, len(attempt.states)) for attempt in attempts])
    luck, shares, places = _side_by_side(attempts)
    of = np.repeat(np.arange(len(attempts)), games)
    player = policy.clone(np.repeat([attempt.row for attempt in attempts], games), seed=0)
    player.took(actions)
    returns = np.zeros(len(states))
    same = np.arange(len(states))  # for each game, the one that is played for it
    later = np.zeros(len(states))
    for step in range(len(luck)):
        states["stream"] = luck[step].take(places, axis=0)
        bits, rewards = stepper.step(states, actions)
        later += shares[step, of] * rewards
        if step + 1 < len(luck):
            actions = player.act(bits)
        memory = player.memory() if step == 0 else None
        if memory is not None:  # most actions change nothing: what follows on them is the same game
            first, same = first_of_equal(states, memory)
            returns, later = later, np.zeros(len(first))
            states = _as_states(as_words(states)[first])
            actions, places, of = actions[first], places[first], of[first]
            player = player.clone(first, seed=0)
    if outlook is not None:
        for number, attempt in enumerate(attempts):
            if attempt.clock < len(outlook.weights):
                rows = np.flatnonzero(of == number)
                rest = outlook.of(_as_states(as_words(states)[rows]), attempt.clock + len(attempt.shares))
                later[rows] += rest / outlook.weights[attempt.clock]
    return returns + later[same]


def _as_states(words: NDArray[np.uint64]) -> States:
    states: States = words.view(STATE)[:, 0]
    return states


def _side_by_side(attempts: list[Attempt]) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.intp]]:
    """Return the luck of all attempts' states, (steps, states, 4); the shares, (steps, attempts); each game's state.

    Trials may differ in their steps: the games of a shorter one go on, and count nothing.
    """
    steps, counts = max(len(attempt.shares) for attempt in attempts), [len(attempt.states) for attempt in attempts]
    luck = np.ones((steps, sum(counts), 4), np.uint32)
    shares = np.zeros((steps, len(attempts)))
    places = []
    for number, (attempt, end) in enumerate(zip(attempts, np.cumsum(counts), strict=True)):
        begin = end - len(attempt.states)
        luck[: len(attempt.luck), begin:end] = attempt.luck
        shares[: len(attempt.shares), number] = attempt.shares
        places.append(np.tile(np.arange(begin, end), len(attempt.actions)))
    return luck, shares, np.concatenate(places)
