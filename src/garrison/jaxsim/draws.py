"""Every random draw of a step: from the state's stream, or from a recorded tape in its place.

Both sources have the same methods, one for each draw that rules §12 calls relevant. `needed` says whether this
environment makes the draw at all: if not, its stream stays where it is and the result means nothing.
"""

from typing import NamedTuple, Protocol

import jax.numpy as jnp
from jax import lax

from garrison.jaxsim.lookup import settled
from garrison.jaxsim.stream import (
    Array,
    Odds,
    Words,
    first_bit,
    happens,
    next_word,
    nth_bit,
    pick,
    pick_of_many,
)


class TapeStep(NamedTuple):
    """The recorded draws of one step: the fields of `garrison.cage2.layout.TAPE`."""

    bline_target: Array
    address_order: Array
    host_order: Array
    exploit_other: Array
    exploit_top: Array
    detected: Array
    session_index: Array
    session_removable: Array
    process_id_reused: Array


class Draws(Protocol):
    """Where the draws of a step come from."""

    def bline_target(self, mask: Array, needed: Array) -> Array:
        """Draw the host that B_line attacks in this episode (A1)."""

    def meander_target(self, addresses: Array, hosts: Array, is_host: Array, needed: Array) -> Array:
        """Draw one of the mask `hosts` if `is_host` (A3), else one of the mask `addresses` (A2)."""

    def exploit(self, top: Array, others: Array, top_odds: Odds, needed: Array) -> Array:
        """Draw the exploit to try: `top`, or one of the mask `others` (X2, X3)."""

    def detected(self, rate: Odds, needed: Array) -> Array:
        """Draw whether Blue notices a reverse shell (X6)."""

    def session(self, n: Array, needed: Array) -> Array:
        """Draw which of `n` sessions, oldest first, an escalation lifts (X7)."""

    def is_removable(self, index: Array, lead: Array, removable: Array, hidden: Array) -> Array:
        """Return whether the session `index`, behind the oldest fixed one, is a removable one."""

    def reused(self, stale: Array, process_ids: Array, needed: Array) -> Array:
        """Draw whether a new process gets one of `stale` ids that were reported to Blue earlier (quirk Q14)."""


class StreamDraws:
    """Draws from the state's own generator."""

    def __init__(self, stream: Words, t: Array) -> None:
        self.stream = stream
        """Where the generator stands now"""
        self._t = t

    def word(self, needed: Array) -> Array:
        """Return 32 random bits, and advance where they are needed."""
        (needed,) = settled(self._t, needed)
        word, after = next_word(self.stream)
        self.stream = Words(*(jnp.where(needed, new, old) for new, old in zip(after, self.stream, strict=True)))
        return word

    def bline_target(self, mask: Array, needed: Array) -> Array:
        """Draw one of the bits."""
        return self._bit(mask, needed)

    def meander_target(self, addresses: Array, hosts: Array, is_host: Array, needed: Array) -> Array:
        """Draw one of the bits."""
        return self._bit(jnp.where(is_host, hosts, addresses), needed)

    def _bit(self, mask: Array, needed: Array) -> Array:
        return nth_bit(mask, pick(self.word(needed), lax.population_count(mask)))

    def exploit(self, top: Array, others: Array, top_odds: Odds, needed: Array) -> Array:
        """Draw whether it is the top one, and only if not, which of the others."""
        is_other = ~happens(self.word(needed), top_odds) & needed
        return jnp.where(is_other, self._bit(others, is_other), top)

    def detected(self, rate: Odds, needed: Array) -> Array:
        """Compare a word with the rate."""
        return happens(self.word(needed), rate)

    def session(self, n: Array, needed: Array) -> Array:
        """Draw a number below n; one session needs no draw."""
        is_drawn = needed & (n > 1)
        return jnp.where(is_drawn, pick(self.word(is_drawn), n), 0)

    def is_removable(self, index: Array, lead: Array, removable: Array, hidden: Array) -> Array:
        """Assume one order: behind the oldest fixed session it is not kept, and every order gives the same odds."""
        return index >= lead + hidden

    def reused(self, stale: Array, process_ids: Array, needed: Array) -> Array:
        """Draw only where there are such ids."""
        is_drawn = needed & (stale > 0)
        return is_drawn & (pick_of_many(self.word(is_drawn), process_ids) < stale)


class TapeDraws:
    """What CybORG drew in this step of a recording; where the game has left it, something that is possible."""

    def __init__(self, tape: TapeStep) -> None:
        self._tape = tape

    def bline_target(self, mask: Array, needed: Array) -> Array:
        """Return the recorded host."""
        return _taped_bit(mask, self._tape.bline_target)

    def meander_target(self, addresses: Array, hosts: Array, is_host: Array, needed: Array) -> Array:
        """Return the first possible one of the recorded shuffle."""
        address = _first_in_order(addresses, self._tape.address_order)
        return jnp.where(is_host, _first_in_order(hosts, self._tape.host_order), address)

    def exploit(self, top: Array, others: Array, top_odds: Odds, needed: Array) -> Array:
        """Return the recorded one."""
        is_other = needed & (self._tape.exploit_top != 1)
        return jnp.where(is_other, _taped_bit(others, self._tape.exploit_other), top)

    def detected(self, rate: Odds, needed: Array) -> Array:
        """Return what was recorded."""
        return self._tape.detected == 1

    def session(self, n: Array, needed: Array) -> Array:
        """Return the recorded session."""
        return jnp.clip(self._tape.session_index, 0, jnp.maximum(n - 1, 0))

    def is_removable(self, index: Array, lead: Array, removable: Array, hidden: Array) -> Array:
        """Return what was recorded, if there is one left of that kind."""
        return (removable > lead) & ((self._tape.session_removable == 1) | (hidden <= 1))

    def reused(self, stale: Array, process_ids: Array, needed: Array) -> Array:
        """Return what was recorded."""
        return needed & (self._tape.process_id_reused == 1) & (stale > 0)


def _taped_bit(mask: Array, bit: Array) -> Array:
    is_possible = (bit >= 0) & ((mask >> jnp.maximum(bit, 0)) & 1 == 1)
    return jnp.where(is_possible, bit, first_bit(mask))


def _first_in_order(mask: Array, order: Array) -> Array:
    is_possible = (order >= 0) & ((mask >> jnp.maximum(order, 0)) & 1 == 1)
    return jnp.where(is_possible.any(), order[jnp.argmax(is_possible)], first_bit(mask))
