"""Games that are played to see what an action leads to: it is taken first, then the network plays on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from garrison.agents.network_agent import NetworkAgent
from garrison.agents.protocol import Choices
from garrison.belief.stepping import States, Stepper

CHUNK = 1 << 12
"""Games that are played at a time, at most, unless one trial has more: they fit a core's cache"""


@dataclass(frozen=True)
class Trial:
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

    @property
    def games(self) -> int:
        """How many there are."""
        return len(self.actions) * len(self.states)


def play_trials(policy: NetworkAgent, stepper: Stepper, trials: Sequence[Trial]) -> list[NDArray[np.float64]]:
    """Return what each action of each trial brought in each of its states, (k, m).

    `policy` has acted in the environments of the trials; it is not changed.
    """
    returns: list[NDArray[np.float64]] = []
    for some in _chunks(trials):
        found = _play(policy, stepper, some)
        ends = np.cumsum([trial.games for trial in some])
        parts = np.split(found, ends[:-1])
        returns += [part.reshape(len(trial.actions), -1) for part, trial in zip(parts, some, strict=True)]
    return returns


def _chunks(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    some: list[Trial] = []
    for trial in trials:
        if some and sum(one.games for one in some) + trial.games > CHUNK:
            yield some
            some = []
        some.append(trial)
    if some:
        yield some


def _play(policy: NetworkAgent, stepper: Stepper, trials: list[Trial]) -> NDArray[np.float64]:
    """Play all games of some trials side by side."""
    games = [trial.games for trial in trials]
    states = np.concatenate([np.tile(trial.states, len(trial.actions)) for trial in trials])
    actions = np.concatenate([np.repeat(trial.actions, len(trial.states)) for trial in trials])
    luck, shares, places = _side_by_side(trials)
    player = policy.clone(np.repeat([trial.row for trial in trials], games), seed=0)
    player.took(actions)
    returns = np.zeros(len(states))
    for step in range(len(luck)):
        states["stream"] = luck[step].take(places, axis=0)
        bits, rewards = stepper.step(states, actions)
        returns += np.repeat(shares[step], games) * rewards
        if step + 1 < len(luck):
            actions = player.act(bits)
    return returns


def _side_by_side(trials: list[Trial]) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.intp]]:
    """Return the luck of all trials' states, (steps, states, 4); the shares, (steps, trials); each game's state.

    Trials may differ in their steps: the games of a shorter one go on, and count nothing.
    """
    steps, counts = max(len(trial.shares) for trial in trials), [len(trial.states) for trial in trials]
    luck = np.ones((steps, sum(counts), 4), np.uint32)
    shares = np.zeros((steps, len(trials)))
    places = []
    for number, (trial, end) in enumerate(zip(trials, np.cumsum(counts), strict=True)):
        begin = end - len(trial.states)
        luck[: len(trial.luck), begin:end] = trial.luck
        shares[: len(trial.shares), number] = trial.shares
        places.append(np.tile(np.arange(begin, end), len(trial.actions)))
    return luck, shares, np.concatenate(places)
