"""A network that looks ahead: before it acts, it tries actions on what may be true, and plays on from there.

It keeps a belief about every environment (`garrison.belief`), which is made of what Blue did and was shown and of
nothing else. Candidates are the network's likeliest actions, and a Restore and a Remove where Red may be. All are tried
on the same states with the same luck, and the network plays on as it would (policy improvement by rollout; Tesauro and
Galperin 1996), or its guard: a network that reads a belief is too slow for that. After some steps a
game is broken off, and what is left is taken from the values of who sees everything (`garrison.limit.solved_games`).
Rounds of more and more games leave fewer and fewer candidates. What is left replaces the network's choice if it is
better by more than noise.
"""

import copy
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from garrison.agents.belief_book import BeliefBook
from garrison.agents.border import observed_bits
from garrison.agents.guarded_agent import GuardedAgent
from garrison.agents.network_agent import NetworkAgent
from garrison.agents.protocol import Choices, Explanation, Flags
from garrison.agents.rollouts import Attempt, play_attempts
from garrison.agents.search_settings import SearchSettings
from garrison.belief.filter import Belief, Beliefs
from garrison.belief.state_stepper import Stepper
from garrison.cage2.names import (
    DEFAULT_RULES,
    FIRST_BLOCK,
    NUM_HOSTS,
    REMOVE_BLOCK,
    RESTORE_BLOCK,
    Access,
    Host,
    Red,
)
from garrison.limit.solved_games import Outlook
from garrison.system import cores

FIXES = FIRST_BLOCK + np.array([RESTORE_BLOCK, REMOVE_BLOCK]) * NUM_HOSTS
"""The first action of each block of fixes: one for each host"""

NO_PAST = bytes(16)
"""The digest of an episode that has just begun"""


class Race:
    """The candidates of one environment, and what they brought so far."""

    def __init__(self, row: int, actions: Choices, shares: NDArray[np.float64]) -> None:
        self.row, self.shares = row, shares
        self.actions = actions
        """Those that are still in; the network's own comes first"""
        self.returns = np.zeros((len(actions), 0))
        """(candidates, games)"""

    def take(self, returns: NDArray[np.float64], keep: int) -> None:
        """Take in the games of a round, and keep the best so many of the candidates that look better than the first."""
        self.returns = np.concatenate([self.returns, returns], axis=1)
        gains = self._gains().mean(axis=1)
        order = np.argsort(-gains, kind="stable")
        chosen = [0, *order[gains[order] > 0][:keep]]
        self.actions, self.returns = self.actions[chosen], self.returns[chosen]

    def winner(self, margin: float) -> int:
        """Return the best candidate that beats the first by more than `margin` standard errors, or the first."""
        gains = self._gains()
        means = gains.mean(axis=1)
        errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
        return int(self.actions[np.where(means > margin * errors, means, 0.0).argmax()])

    def _gains(self) -> NDArray[np.float64]:
        gains: NDArray[np.float64] = self.returns - self.returns[0]
        return gains


class SearchAgent:
    """Acts as a network does, unless a search finds better.

    Args:
        policy: the network. It also plays the games of the search; of a `GuardedAgent` the guard does: it is quicker.
        settings: how hard it searches.
        name: what results call it.
    """

    def __init__(
        self, policy: NetworkAgent | GuardedAgent, settings: SearchSettings | None = None, name: str = ""
    ) -> None:
        self.settings = settings or SearchSettings()
        self.name, self.rules, self.encoder = name or f"{policy.name} with search", policy.rules, policy.encoder
        self._policy = policy
        rules = policy.rules or DEFAULT_RULES
        self._stepper = Stepper(rules, policy.encoder)
        self._book = BeliefBook(rules, policy.encoder)
        self._threads = ThreadpoolController()

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments."""
        self._policy.begin(num_envs, seed)
        self._book.begin(num_envs)
        self._outlook = Outlook(self._policy.rules or DEFAULT_RULES, self.settings.lengths, cores())
        self._seed, self._pasts = seed, [NO_PAST] * num_envs

    @property
    def _player(self) -> NetworkAgent:
        """Who plays the games; it has seen and remembers what the policy does."""
        return self._policy.guard if isinstance(self._policy, GuardedAgent) else self._policy

    @property
    def beliefs(self) -> Beliefs:
        """What is believed about each environment, since its last observation."""
        return self._book.beliefs

    def reset(self, mask: Flags) -> None:
        """Forget the environments where new episodes begin."""
        self._book.reset(mask)
        self._policy.reset(mask)

    def act(self, observations: NDArray[Any]) -> Choices:
        """Return one action per row."""
        bits = observed_bits(observations, len(self._pasts))
        # Products this small gain nothing from threads of their own, and lose much where others want the cores.
        with self._threads.limit(limits=1):
            self._see(bits)
            actions = self._policy.act(bits).copy()
            for race in self._search(actions):
                actions[race.row] = race.winner(self.settings.margin)
        self.took(actions)
        return actions

    def took(self, actions: Choices) -> None:
        """Remember what Blue did."""
        self._policy.took(actions)
        self._book.took(actions)

    def explain(self) -> Explanation:
        """Return the network's probabilities and values: the search may have chosen something else."""
        return self._policy.explain()

    def clone(self, rows: NDArray[np.intp], seed: int) -> Self:
        """Return the same defender for copies of these environments."""
        twin = copy.copy(self)
        twin._policy, twin._book = self._policy.clone(rows, seed), self._book.clone(rows)
        twin._seed, twin._pasts = seed, [self._pasts[row] for row in rows]
        return twin

    def _see(self, bits: NDArray[np.int8]) -> None:
        """Take in what was shown."""
        starts = self._book.see(bits)
        for row, past in enumerate(self._pasts):
            self._pasts[row] = NO_PAST if starts[row] else _longer(past, int(self._book.last[row]), bits[row])

    def _search(self, actions: Choices) -> list[Race]:
        """Return what was found for the environments in which there was something to decide."""
        probabilities = self._policy.explain().probabilities
        races = []
        for row, belief in enumerate(self.beliefs):
            if belief.misses:  # then it means nothing
                continue
            candidates = self._candidates(int(actions[row]), probabilities[row], belief)
            if len(candidates) > 1:
                races.append(Race(row, candidates, self._shares(int(self._book.clocks[row]))))
        open_races = races
        for number, one in enumerate(self.settings.rounds):
            attempts = [self._attempt(race, number, one.continuations) for race in open_races]
            for race, returns in zip(open_races, self._play(attempts), strict=True):
                race.take(returns, one.keep)
            open_races = [race for race in open_races if len(race.actions) > 1]
        return races

    def _candidates(self, own: int, probabilities: NDArray[np.float32], belief: Belief) -> Choices:
        """Return what is tried, the network's own choice first; it alone where nobody attacks."""
        if (belief.states["red"] == Red.SLEEP).all():
            return np.array([own])
        likeliest = np.argsort(-probabilities, kind="stable")[: self.settings.likeliest]
        is_held = 1 - belief.access()[:, Access.NONE] >= self.settings.suspicion
        is_held[Host.USER0] = False  # where Red begins, and stays
        fixes = FIXES[:, None] + np.flatnonzero(is_held)
        found = [own, *likeliest[probabilities[likeliest] > 0].tolist(), *fixes.ravel().tolist()]
        return np.array(list(dict.fromkeys(found)))

    def _attempt(self, race: Race, number: int, games: int) -> Attempt:
        random, shares = self._random(race.row, number), race.shares
        states = self.beliefs[race.row].sample(games, random)
        luck = random.integers(1, 2**32, (len(shares), games, 4), np.uint32)
        return Attempt(race.row, race.actions, states, luck, shares, int(self._book.clocks[race.row]))

    def _play(self, attempts: list[Attempt]) -> list[NDArray[np.float64]]:
        return play_attempts(self._player, self._stepper, attempts, self._outlook)

    def _random(self, row: int, number: int) -> np.random.Generator:
        """Return the luck of a round.

        It follows from the seed and from the episode so far, and so not from who else is in the batch.
        """
        return np.random.default_rng([self._seed, number, *np.frombuffer(self._pasts[row], np.uint32).tolist()])

    def _shares(self, clock: int) -> NDArray[np.float64]:
        """Return how likely the episode is to reach each coming step, given that it has come so far."""
        lengths = np.array(self.settings.lengths)
        left = lengths.max() - clock if clock < lengths.max() else self.settings.horizon
        coming = clock + np.arange(min(left, self.settings.horizon))
        reached = (lengths > coming[:, None]).sum(axis=1) / max(1, (lengths > clock).sum())
        return reached if clock < lengths.max() else np.ones(len(coming))


def _longer(past: bytes, action: int, bits: NDArray[np.int8]) -> bytes:
    """Return the digest of an episode that has become a step longer."""
    return blake2b(past + action.to_bytes(2, "little") + bits.tobytes(), digest_size=len(NO_PAST)).digest()
