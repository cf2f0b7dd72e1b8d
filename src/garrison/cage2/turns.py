"""One environment on CybORG's own draws, turn by turn: the rules behind the drop-in package `CybORG`.

CybORG draws from Python's global generator, as its users' own agents do. Each call here borrows that generator, so that
draws of both take turns as they do there.
"""

import sys
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.attack import attack
from garrison.cage2.defend import defend
from garrison.cage2.layout import (
    ACTION_TERM,
    DETAILS,
    GENERATOR_WORDS,
    MAX_DRAWN,
    MAX_LENGTH,
    MAX_PROCESSES,
    MAX_REPORTS,
    STATE,
    TAPE,
)
from garrison.cage2.names import (
    DEFAULT_ENCODER,
    DEFAULT_RULES,
    NUM_ACTIONS,
    NUM_EXPLOITS,
    NUM_HOSTS,
    REDS,
    SCRIPTED_REDS,
    RedKind,
    Source,
)
from garrison.cage2.observe import NUM_BITS, notice, write_observation
from garrison.cage2.python_random import lend
from garrison.cage2.red import choose_red_action
from garrison.cage2.reward import charge
from garrison.cage2.scenario import load_scenario
from garrison.cage2.step import begin, tell_compiling
from garrison.contract.misuse import NotReset
from garrison.contract.resets import whole
from garrison.errors import GarrisonError, choose
from garrison.jit import COMPILED, is_compiled, kernel, records

# What a call plays: parts of a turn, in this order, or a reset.
BLUE, RED, END, RESET = 1, 2, 4, 8


@kernel(cached=True)
def play_parts(
    envs: NDArray[np.void],
    scenarios: NDArray[np.void],
    tapes: NDArray[np.void],
    details: NDArray[np.void],
    bits: NDArray[np.int8],
    parts: int,
    action: int,
    kind: int,
    target: int,
    exploit: int,
    python: NDArray[np.uint32],
) -> float:
    """Play parts of a turn on the generator whose position and words are `python`; return the reward, if it ends."""
    env, sc, own = envs[0], scenarios[0], details[0]
    own.position = np.int64(python[0])
    for i in range(GENERATOR_WORDS):
        own.generator[i] = python[i + 1]
    reward = 0.0
    if parts & RESET:
        begin(env, sc, own, False, bits)
    if parts & BLUE:
        env.reward_terms[ACTION_TERM] = -defend(env, sc, own, action)
    if parts & RED:
        red_kind, red_target = choose_red_action(env, sc, tapes[0], own, kind, target)
        own.named_exploit = exploit
        attack(env, sc, tapes[0], own, red_kind, red_target)
    if parts & END:
        reward = charge(env, sc, -env.reward_terms[ACTION_TERM])
        notice(env, sc)
        env.t += 1
        write_observation(env, bits)
    python[0] = own.position
    for i in range(GENERATOR_WORDS):
        python[i + 1] = own.generator[i]
    return reward


class Turns:
    """One CAGE-2 environment on CybORG's own draws, turn by turn, from Python's global generator (`random`).

    A turn is `blue`, `red` and `end`; `play` is all three. A scripted attacker, or an agent of the user's that draws
    from `random`, so has its draws where they are in CybORG: Blue's before Blue acts, Red's after that.

    Args:
        rules: `head` or `leaderboard`.
        red: `bline`, `meander` or `sleep`, which choose for themselves, or `external`. Nothing is drawn.
        encoder: `challenge` or `wrapper2`, see `garrison.cage2.scenario`.
    """

    env: Any
    """The `STATE` record: what the game is, as attributes"""
    details: Any
    """The `DETAILS` record: addresses, process ids, and what was drawn in this step"""
    bits: NDArray[np.int8]
    """Blue's 52 bits, after `reset` and `end`"""

    def __init__(self, rules: str = DEFAULT_RULES, red: str = "external", encoder: str = DEFAULT_ENCODER) -> None:
        self._scenario = load_scenario(None, rules, encoder)
        self._envs = np.zeros(1, STATE)
        self._details = np.zeros(1, DETAILS)
        self._envs["red"] = REDS.index(choose("red", red, REDS))
        self._envs["source"] = Source.CYBORG
        self._envs["length"] = MAX_LENGTH
        self._is_scripted = red in SCRIPTED_REDS
        self.bits = np.zeros(NUM_BITS, np.int8)
        self._is_reset = False
        self._attach()
        warm_up_turns()

    def _attach(self) -> None:
        self.env = self._envs.view(np.recarray)[0]
        self.details = self._details.view(np.recarray)[0]
        self._records = (
            records(self._envs),
            records(self._scenario),
            records(np.zeros(1, TAPE)),
            records(self._details),
            self.bits,
        )

    @property
    def arrays(self) -> tuple[NDArray[np.void], NDArray[np.void]]:
        """`env` and `details` as arrays of one record: reading a field of these is many times as fast."""
        return self._envs, self._details

    def reset(self) -> None:
        """Begin an episode, with the draws of one reset."""
        self._play(RESET)
        self._is_reset = True

    def blue(self, action: int) -> None:
        """Carry out Blue's action, 0..144; -1 is an invalid one, which does nothing and fails."""
        self._start(action)
        self._play(BLUE, action)

    def red(self, kind: int = -1, target: int = -1, exploit: int = -1) -> None:
        """Let Red act: a scripted attacker as it likes, an external one as the arguments say.

        Args:
            kind: a code of `RedKind`; `INVALID` does nothing and fails, as naming what Red does not know does.
            target: a host, for a sweep a subnet.
            exploit: for `EXPLOIT`, the one to try, whatever ports Red has seen; -1 lets CybORG's rules choose.
        """
        self._check_red(kind, target, exploit)
        self._play(RED, kind=kind, target=target, exploit=exploit)

    def end(self) -> float:
        """End the turn: charge, let Blue's monitor report, write `bits`; return Blue's reward.

        An invalid action's price is not part of it.
        """
        return self._play(END)

    def play(self, action: int, kind: int = -1, target: int = -1, exploit: int = -1) -> float:
        """Play a whole turn and return Blue's reward."""
        self._start(action)
        self._check_red(kind, target, exploit)
        return self._play(BLUE | RED | END, action, kind, target, exploit)

    def _start(self, action: int) -> None:
        if not self._is_reset:
            raise NotReset("call reset() before the first turn.")
        if not -1 <= action < NUM_ACTIONS:
            whole("action", action, -1, NUM_ACTIONS - 1)
        own = self._details[0]
        if own["process_count"] > MAX_PROCESSES - 2 or own["report_count"] > MAX_REPORTS - 1:
            raise GarrisonError(
                f"this episode has more sessions, decoys or reports than Garrison keeps ({MAX_PROCESSES} processes, "
                f"{MAX_REPORTS} reports), after {int(self._envs['t'][0])} steps.",
                hint="Call reset().",
            )

    def _check_red(self, kind: int, target: int, exploit: int) -> None:
        if self._is_scripted:
            return
        whole("kind", kind, RedKind.SLEEP, RedKind.INVALID)
        if kind not in (RedKind.SLEEP, RedKind.INVALID):
            whole("target", target, 0, NUM_HOSTS - 1)
        whole("exploit", exploit, -1, NUM_EXPLOITS - 1)

    def _play(self, parts: int, action: int = 0, kind: int = -1, target: int = -1, exploit: int = -1) -> float:
        # The parts that a scripted attacker leaves unused may be anything: it chooses for itself, without `exploit`.
        exploit = -1 if self._is_scripted else exploit
        reward = float(lend(partial(play_parts, *self._records, parts, action, kind, target, exploit)))
        if self._details["drawn_count"][0] > MAX_DRAWN:
            raise GarrisonError(f"this step drew more process ids and ports than Garrison keeps, {MAX_DRAWN}.")
        return reward

    def __getstate__(self) -> dict[str, Any]:
        derived = ("env", "details", "_records")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._attach()


def warm_up_turns() -> None:
    """Compile the kernel of `Turns`, or load it from the cache; say so if that takes long."""
    entry: Any = play_parts
    if not COMPILED or entry.signatures:
        return
    takes_long = not is_compiled(entry)
    if takes_long:
        tell_compiling(0, 1, sys.stderr)
    envs, tapes, details = np.zeros(1, STATE), np.zeros(1, TAPE), np.zeros(1, DETAILS)
    bits, python = np.zeros(NUM_BITS, np.int8), np.zeros(GENERATOR_WORDS + 1, np.uint32)
    entry(envs, load_scenario(), tapes, details, bits, 0, 0, -1, -1, -1, python)
    if takes_long:
        tell_compiling(1, 1, sys.stderr)
