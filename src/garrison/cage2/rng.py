"""Every random draw of an episode: from the environment's own stream, or from a recorded tape in its place.

The stream is xoshiro128++ (Blackman and Vigna 2019): 16 bytes of state, additions, shifts and xors of 32-bit words.
Each draw that rules §12 calls relevant is one function here; on a tape the function returns what CybORG drew. The third
source is Python's generator, used as CybORG uses it: then there are `details` (details.py), else they are None.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.details import draw_listed_exploit
from garrison.cage2.layout import Record
from garrison.cage2.mersenne import below
from garrison.cage2.mersenne import uniform as python_uniform
from garrison.cage2.names import NUM_HOSTS, Source
from garrison.jit import kernel

_WORD = 0xFFFFFFFF


@kernel
def next_word(env: Record) -> int:
    """Advance the stream and return 32 random bits."""
    s0, s1, s2, s3 = np.int64(env.stream[0]), np.int64(env.stream[1]), np.int64(env.stream[2]), np.int64(env.stream[3])
    x = (s0 + s3) & _WORD
    word = ((((x << 7) | (x >> 25)) & _WORD) + s0) & _WORD
    shifted = (s1 << 9) & _WORD
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = ((s3 << 11) | (s3 >> 21)) & _WORD
    env.stream[0] = s0
    env.stream[1] = s1
    env.stream[2] = s2
    env.stream[3] = s3
    return int(word)


@kernel
def uniform(env: Record) -> float:
    """Draw from [0, 1)."""
    return next_word(env) * 2.0**-32


@kernel
def pick(env: Record, n: int) -> int:
    """Draw one of 0..n-1."""
    return (next_word(env) * n) >> 32


@kernel
def count_bits(mask: int) -> int:
    """Count the bits of a mask of at most 16."""
    mask = mask - ((mask >> 1) & 0x5555)
    mask = (mask & 0x3333) + ((mask >> 2) & 0x3333)
    mask = (mask + (mask >> 4)) & 0x0F0F
    return (mask + (mask >> 8)) & 0x1F


@kernel
def first_bit(mask: int) -> int:
    """Return the index of the lowest set bit of `mask`, which has at least one."""
    return count_bits((mask & -mask) - 1)


@kernel
def pick_bit(env: Record, mask: int) -> int:
    """Draw the index of one of the set bits of `mask`, which has at least one."""
    for _ in range(pick(env, count_bits(mask))):
        mask &= mask - 1
    return first_bit(mask)


@kernel
def first_in_order(mask: int, order: NDArray[np.int8]) -> int:
    """Return the first entry of `order` whose bit is set in `mask`; if there is none, the lowest set bit.

    A tape lacks a draw only where the game has left the recording, which the comparison then shows.
    """
    for i in range(NUM_HOSTS):
        if order[i] >= 0 and (mask >> int(order[i])) & 1:
            return int(order[i])
    return first_bit(mask)


@kernel
def taped_bit(mask: int, bit: int) -> int:
    """Return `bit` if it is set in `mask`, as it is while the game follows the tape; otherwise the lowest set bit."""
    return bit if bit >= 0 and (mask >> bit) & 1 else first_bit(mask)


@kernel
def draw_bline_target(env: Record, tape: Record, details: Record, mask: int) -> int:
    """Draw the host that B_line attacks in this episode (A1)."""
    if details is not None:
        for _ in range(below(details, count_bits(mask))):
            mask &= mask - 1
        return first_bit(mask)
    return taped_bit(mask, int(tape.bline_target)) if env.source == Source.TAPE else pick_bit(env, mask)


@kernel
def draw_address(env: Record, tape: Record, details: Record, mask: int) -> int:
    """Draw one of the addresses in `mask`: the first of a shuffle (A2)."""
    if details is not None:
        return first_in_order(mask, details.address_order)
    return first_in_order(mask, tape.address_order) if env.source == Source.TAPE else pick_bit(env, mask)


@kernel
def draw_host(env: Record, tape: Record, details: Record, mask: int) -> int:
    """Draw one of the hosts in `mask`: the first of a shuffle (A3)."""
    if details is not None:
        return first_in_order(mask, details.host_order)
    return first_in_order(mask, tape.host_order) if env.source == Source.TAPE else pick_bit(env, mask)


@kernel
def draw_exploit(env: Record, tape: Record, details: Record, top: int, others: int, top_odds: float) -> int:
    """Draw the exploit to try: `top`, or one of the mask `others` (X2, X3)."""
    if details is not None:
        return draw_listed_exploit(details, top, others, top_odds)
    if env.source == Source.TAPE:
        return top if tape.exploit_top == 1 else taped_bit(others, int(tape.exploit_other))
    return top if uniform(env) < top_odds else pick_bit(env, others)


@kernel
def draw_detected(env: Record, tape: Record, details: Record, rate: float) -> bool:
    """Draw whether Blue notices a reverse shell (X6)."""
    if details is not None:
        return python_uniform(details) < rate
    if env.source == Source.TAPE:
        return bool(tape.detected == 1)
    return uniform(env) < rate


@kernel
def draw_session(env: Record, tape: Record, details: Record, n: int) -> int:
    """Draw which of `n` sessions, oldest first, an escalation lifts (X7)."""
    if details is not None:
        return below(details, n)
    if n == 1:
        return 0
    return max(0, min(n - 1, int(tape.session_index))) if env.source == Source.TAPE else pick(env, n)


@kernel
def draw_reused(env: Record, tape: Record, stale: int, process_ids: int) -> bool:
    """Draw whether a new process gets one of `stale` process ids that were reported to Blue earlier (quirk Q14)."""
    if env.source == Source.TAPE:
        return bool(tape.process_id_reused == 1 and stale > 0)
    return stale > 0 and pick(env, process_ids) < stale


def seed_streams(seeds: list[int]) -> NDArray[np.uint32]:
    """Return the initial stream of each seed: (len(seeds), 4) uint32.

    The words are SplitMix64's, the seeding that xoshiro's authors recommend; equal seeds give equal streams, and
    neighbouring seeds unrelated ones.
    """
    state = np.array(seeds, dtype=np.uint64)
    words = np.empty((len(seeds), 2), dtype=np.uint64)
    for i in range(2):
        state += np.uint64(0x9E3779B97F4A7C15)
        z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words[:, i] = z ^ (z >> np.uint64(31))
    streams = np.empty((len(seeds), 4), dtype=np.uint32)
    streams[:, 0::2] = words & np.uint64(_WORD)
    streams[:, 1::2] = words >> np.uint64(32)
    return streams
