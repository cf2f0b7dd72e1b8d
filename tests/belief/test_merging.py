"""Which states count as the same."""

import numpy as np
from numpy.typing import NDArray

from garrison.belief.merging import PAST, STATE_WORDS, TRIFLES, add, as_words, digests, empty, forget_past, make_pool
from garrison.cage2.layout import STATE
from garrison.jit import kernel


@kernel
def _gather(pool: object, words: NDArray[np.uint64], weights: NDArray[np.float64]) -> None:
    empty(pool)
    for i in range(len(words)):
        add(pool, words[i], weights[i])


def merge(states: NDArray[np.void], weights: NDArray[np.float64]) -> tuple[NDArray[np.void], NDArray[np.float64]]:
    pool = make_pool(1 << 15)
    _gather(pool, as_words(states), weights)
    assert not pool.tally[1]
    count = pool.tally[0]
    return pool.words[:count].reshape(-1).view(STATE), pool.weights[:count]


def test_states_that_differ_in_their_past_only_are_one() -> None:
    states = np.zeros(3, STATE)
    states["total"] = -1.0, -2.0, -3.0
    states["access"][2, 5] = 1
    merged, weights = merge(states, np.array([0.5, 0.25, 0.25]))
    assert len(merged) == 2
    assert dict(zip(merged["access"][:, 5].tolist(), weights.tolist(), strict=True)) == {0: 0.75, 1: 0.25}


def test_every_field_that_is_not_the_past_tells_states_apart() -> None:
    for name in STATE.names or ():
        pair = np.zeros(2, STATE)
        if name == "unused":
            continue
        pair[name][1] = 1
        merged, _ = merge(pair, np.ones(2))
        assert len(merged) == (1 if name in (*PAST, *TRIFLES) else 2), name


def test_digests_of_many_states_differ() -> None:
    states = np.zeros(20_000, STATE)
    states["sessions"][:, 3] = np.arange(20_000)
    assert len(np.unique(digests(states))) == 20_000


def test_all_that_is_added_is_found_again() -> None:
    states = np.zeros(30_000, STATE)
    states["sessions"][:, 3] = np.arange(30_000) % 10_000
    merged, weights = merge(states, np.ones(30_000))
    assert merged["sessions"][:, 3].tolist() == list(range(10_000))
    assert (weights == 3).all()


def test_states_that_share_a_digest_stay_two() -> None:
    at = STATE.fields["last_total"][1] // 8  # type: ignore[index]  # two words that are not forgotten

    def digest(words: list[int]) -> int:
        x = 0xCBF29CE484222325
        for word in words:
            x = (x ^ word) * 0x100000001B3 % 2**64
            x ^= x >> 29
        return x

    states = np.zeros(2, STATE)
    words = as_words(states)
    words[1, at] = 1
    words[1, at + 1] = digest([0] * at + [0]) ^ digest([0] * at + [1])  # leads back to the other's digest
    assert digests(states)[0] == digests(states)[1]
    merged, weights = merge(states, np.ones(2))
    assert len(merged) == 2
    assert weights.tolist() == [1, 1]


def test_a_pool_that_is_full_says_so() -> None:
    states = np.zeros(3, STATE)
    states["held"] = 1, 2, 3
    pool = make_pool(2)
    _gather(pool, as_words(states), np.ones(3))
    assert pool.tally.tolist() == [2, 1]
    _gather(pool, as_words(states)[:2], np.ones(2))
    assert pool.tally.tolist() == [2, 0]


def test_the_past_is_forgotten_and_nothing_else() -> None:
    states = np.frombuffer(np.random.default_rng(0).bytes(5 * STATE.itemsize), STATE).copy()
    expected = states.copy()
    for name in (*PAST, *TRIFLES):
        expected[name] = 0
    forget_past(states)
    assert states.tobytes() == expected.tobytes()
    assert as_words(states).shape == (5, STATE_WORDS)
