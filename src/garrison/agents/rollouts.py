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
    player = policy.clone(np.repeat([trial.row for trial in trials], games), seed=0)
    player.took(actions)
    returns = np.zeros(len(states))
    steps = max(len(trial.shares) for trial in trials)
    for step in range(steps):
        begin = 0
        for trial in trials:
            end = begin + trial.games
            if step < len(trial.shares):
                states["stream"][begin:end] = np.tile(trial.luck[step], (len(trial.actions), 1))
            begin = end
        bits, rewards = stepper.step(states, actions)
        shares = [trial.shares[step] if step < len(trial.shares) else 0.0 for trial in trials]
        returns += np.repeat(shares, games) * rewards
        if step + 1 < steps:
            actions = player.act(bits)
    return returns
