"""What a belief must be, step by step in NumPy: slow, and written in another way than the compiled filter.

A step of CAGE-2 draws little: which host Red turns to, which exploit it tries, whether Blue notices the shell, and
which session an escalation lifts. Every value of a draw is put on a tape (`garrison.cage2.layout.TAPE`), and the
simulator plays the tapes. A value that is not on offer plays like one that is, and a draw that is not made changes
nothing: so equal outcomes are dropped, and those that remain are equally likely or follow the scenario's odds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.belief import BeliefSettings
from garrison.belief.merging import digests
from garrison.belief.state_stepper import States, Stepper
from garrison.cage2 import VectorEnv
from garrison.cage2.layout import MAX_LENGTH, TAPE
from garrison.cage2.names import NUM_EXPLOITS, NUM_HOSTS, Access, Red, RedKind, Source

FORGOTTEN = ("stream", "t", "total", "reward_terms", "red_exploit", "reported", "stale")

Weights = NDArray[np.float64]
Bits = NDArray[np.int8]
Parents = NDArray[np.intp]


def _tapes(values: int) -> NDArray[np.void]:
    """Return tapes on which Red takes its favourite exploit and Blue notices it."""
    tapes = np.zeros(values, TAPE)
    tapes["exploit_top"] = tapes["detected"] = 1
    return tapes


def _target_tapes() -> NDArray[np.void]:
    """Return a tape for each host that Red may turn to."""
    tapes = _tapes(NUM_HOSTS)
    tapes["bline_target"] = np.arange(NUM_HOSTS)
    for order in ("address_order", "host_order"):
        tapes[order] = -1
        tapes[order][:, 0] = np.arange(NUM_HOSTS)
    return tapes


def _exploit_tapes() -> NDArray[np.void]:
    """Return a tape for each exploit that Red may try, the favourite and every other, noticed and not."""
    tapes = _tapes(2 * (1 + NUM_EXPLOITS))
    tapes["detected"][1::2] = 0
    tapes["exploit_top"][2:] = 0
    tapes["exploit_other"][2:] = np.repeat(np.arange(NUM_EXPLOITS), 2)
    return tapes


TARGETS, EXPLOITS = _target_tapes(), _exploit_tapes()


class Branching:
    """The outcomes of a step under some rules."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._top_odds = float(stepper.scenario["top_odds"][0])
        self._detect_rate = float(stepper.scenario["detect_rate"][0])

    def outcomes(self, states: States, weights: Weights, action: int) -> tuple[States, Weights, Bits]:
        """Return the states after Blue's action and Red's, their weights, and what Blue is shown in each.

        The weight of each of `states` is shared out among its outcomes by their probabilities.
        """
        guesses = np.repeat(np.arange(len(states)), NUM_HOSTS)
        after, bits = self._play(states[guesses], np.tile(TARGETS, len(states)), action)
        first = _distinct(guesses, after)
        guesses, after, bits, targets = guesses[first], after[first], bits[first], first % NUM_HOSTS
        shares = weights[guesses] / np.bincount(guesses)[guesses]

        exploits = after["red_kind"] == RedKind.EXPLOIT
        lifts = self._lifts(states, guesses, after, action)
        parts = [(after[~exploits & ~lifts], shares[~exploits & ~lifts], bits[~exploits & ~lifts])]
        for chosen, branch in ((exploits, self._exploits), (lifts, self._escalations)):
            if chosen.any():
                parts.append(branch(states[guesses[chosen]], targets[chosen], shares[chosen], action))
        joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return joined[0], joined[1], joined[2]

    def _exploits(self, states: States, targets: Parents, shares: Weights, action: int) -> tuple[States, Weights, Bits]:
        """Branch over the exploit that Red tries on its target, and whether Blue notices."""
        parents = np.repeat(np.arange(len(states)), len(EXPLOITS))
        tapes = np.tile(EXPLOITS, len(states))
        after, bits = self._play(states[parents], _on_targets(tapes, targets[parents]), action)
        favourites = after["red_exploit"][:: len(EXPLOITS)]
        first = _distinct(parents, after)
        parents, after, bits = parents[first], after[first], bits[first]

        pairs = parents * (NUM_EXPLOITS + 1) + after["red_exploit"] + 1
        kinds, pair, versions = np.unique(pairs, return_inverse=True, return_counts=True)
        others = np.bincount(kinds // (NUM_EXPLOITS + 1), minlength=len(states))[parents] - 1
        is_favourite = after["red_exploit"] == favourites[parents]
        odds = np.where(is_favourite, self._top_odds, (1 - self._top_odds) / np.maximum(others, 1))
        odds[others == 0] = 1.0
        noticed = np.where(after["event_shell"] == 1, self._detect_rate, 1 - self._detect_rate)
        return after, shares[parents] * odds * np.where(versions[pair] == 2, noticed, 1.0), bits

    def _lifts(self, states: States, guesses: Parents, after: States, action: int) -> NDArray[np.bool_]:
        """Return where Red made one of several sessions privileged: which one was drawn."""
        lifts: NDArray[np.bool_] = (after["red_kind"] == RedKind.ESCALATE) & (after["red_success"] == 1)
        rows = np.flatnonzero(lifts)
        if len(rows):
            hosts = after["red_target"][rows]
            before = self._after_blue(states[guesses[rows]], action)
            at = np.arange(len(rows)), hosts
            lifts[rows] = (before["sessions"][at] > 1) & (before["access"][at] != Access.PRIVILEGED)
        return lifts

    def _escalations(
        self, states: States, targets: Parents, shares: Weights, action: int
    ) -> tuple[States, Weights, Bits]:
        """Branch over the session that an escalation lifts."""
        before = self._after_blue(states, action)
        plain, _ = self._play(states.copy(), _on_targets(_tapes(len(states)), targets), action)
        at = np.arange(len(states)), plain["red_target"]
        counts = before["sessions"][at].astype(np.int64)
        parents = np.repeat(np.arange(len(states)), counts)
        tapes = _on_targets(_tapes(len(parents)), targets[parents])
        tapes["session_index"] = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
        fixed = (before["lead"][at] + before["hidden"][at])[parents]
        tapes["session_removable"] = tapes["session_index"] >= fixed  # as the stream's draws have it
        after, bits = self._play(states[parents], tapes, action)
        return after, (shares / counts)[parents], bits

    def _after_blue(self, states: States, action: int) -> States:
        """Return copies of the states in which only Blue has acted."""
        states = states.copy()
        states["red"] = Red.SLEEP
        self._stepper.step(states, np.full(len(states), action, np.int64))
        return states

    def _play(self, states: States, tapes: NDArray[np.void], action: int) -> tuple[States, Bits]:
        """Step these copies with draws from tapes of one step."""
        clocks = states["t"].copy()
        states["source"], states["t"] = Source.TAPE, 0
        bits, _ = self._stepper.step(states, np.full(len(states), action, np.int64), tapes[:, None])
        states["source"], states["t"] = Source.STREAM, clocks + 1
        return states, bits


def _on_targets(tapes: NDArray[np.void], targets: Parents) -> NDArray[np.void]:
    """Put on each tape which host Red turns to."""
    for field in ("bline_target", "address_order", "host_order"):
        tapes[field] = TARGETS[field][targets]
    return tapes


def _distinct(parents: Parents, states: States) -> Parents:
    """Return where a state comes for the first time among those of its parent."""
    keys = digests(states) + parents.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.sort(np.unique(keys, return_index=True)[1])


def merge(states: States, weights: Weights) -> tuple[States, Weights]:
    """Return each state once, with the sum of its weights. The past of `states` is forgotten."""
    for name in FORGOTTEN:
        states[name] = 0
    _, first, group = np.unique(digests(states), return_index=True, return_inverse=True)
    sums: Weights = np.bincount(group, weights, len(first)).astype(np.float64)
    return states[first], sums


class SlowBelief:
    """What `garrison.belief.Belief` is."""

    def __init__(self, rules: str, encoder: str, settings: BeliefSettings | None = None) -> None:
        self.settings = settings or BeliefSettings()
        self._branching = Branching(Stepper(rules, encoder))
        prior = {name: odds for name, odds in self.settings.prior.items() if odds > 0}
        envs = VectorEnv(len(prior), red=list(prior), rules=rules, encoder=encoder, length=MAX_LENGTH)
        envs.reset(seed=0)
        self.states, self.weights = self._likeliest(envs.get_state(), np.array(list(prior.values())))
        self.misses = 0

    def update(self, action: int, observation: NDArray[Any]) -> None:
        """Take in what Blue did and was shown then."""
        states, weights, bits = self._branching.outcomes(self.states, self.weights, action)
        differing = (bits != observation).sum(axis=1)
        self.misses += int(differing.min() > 0)
        fits = differing == differing.min()
        self.states, self.weights = self._likeliest(states[fits], weights[fits])

    def _likeliest(self, states: States, weights: Weights) -> tuple[States, Weights]:
        states, weights = merge(states, weights)
        weights /= weights.sum()
        order = np.argsort(-weights, kind="stable")[: self.settings.most_states]
        kept = order[weights[order] >= min(self.settings.least_weight, weights[order[0]])]
        return states[kept], weights[kept] / weights[kept].sum()
