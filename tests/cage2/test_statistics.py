"""The live stream agrees with CybORG where a tape says nothing: mean scores and the frequencies of draws.

The seeds are fixed, so these tests do not fail by chance; the margins say how unlikely the observed value may be.
"""

import numpy as np
import pytest

from garrison.cage2.names import Host, Red
from garrison.cage2.vector_env import VectorEnv

pytestmark = pytest.mark.slow

# Mean and standard error over 2,000 CybORG episodes (rules §17), head rules.
REFERENCE = {
    ("bline", 30): {"sleep": (-217.58, 0.42), "uniform": (-158.79, 1.73), "restore": (-63.82, 0.08)},
    ("bline", 50): {"sleep": (-479.58, 0.42), "uniform": (-345.89, 3.53), "restore": (-125.82, 0.08)},
    ("bline", 100): {"sleep": (-1134.58, 0.42), "uniform": (-754.52, 7.94), "restore": (-280.82, 0.08)},
    ("meander", 30): {"sleep": (-39.26, 0.43), "uniform": (-33.64, 0.37), "restore": (-33.01, 0.14)},
    ("meander", 50): {"sleep": (-266.16, 1.59), "uniform": (-167.52, 2.10), "restore": (-110.36, 0.27)},
    ("meander", 100): {"sleep": (-969.53, 1.66), "uniform": (-584.64, 6.51), "restore": (-316.00, 0.68)},
}
EPISODES = 4000


@pytest.mark.parametrize(("red", "length"), REFERENCE)
@pytest.mark.parametrize("policy", ["sleep", "uniform", "restore"])
def test_mean_scores_agree_with_cyborg(red: str, length: int, policy: str) -> None:
    random = np.random.default_rng(1)
    envs = VectorEnv(EPISODES, red=red, length=length, autoreset_mode="SameStep")
    envs.reset(seed=0)
    for t in range(length):
        if policy == "uniform":
            actions = random.integers(145, size=EPISODES)
        else:
            actions = np.full(EPISODES, 132 + Host.OP_SERVER0 if policy == "restore" and t == 0 else 0)
        *_, infos = envs.step(actions)
    returns = infos["final_info"]["episode_stats"]["r"]
    mean, error = REFERENCE[red, length][policy]
    margin = 4 * np.hypot(error, returns.std() / np.sqrt(EPISODES))  # four standard errors of the difference
    assert abs(returns.mean() - mean) < margin


def assert_frequencies(counts: np.ndarray, odds: np.ndarray) -> None:
    """Chi-square: the statistic may exceed its mean by at most five of its deviations."""
    expected = odds * counts.sum()
    assert expected.min() > 5
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = len(odds) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom), (counts, expected)


def first_exploits(host: int) -> np.ndarray:
    """Let Red scan and exploit a host in many environments; return how often each exploit was chosen."""
    envs = VectorEnv(20_000, red="external", length=10)
    envs.reset(seed=5)
    state = envs.get_state()
    state["known_address"] = 1
    envs.set_state(state)
    for kind in (2, 3):
        envs.step({"blue": np.zeros(20_000, int), "red": np.tile([kind, host], (20_000, 1))})
    return np.bincount(envs.truth.red_exploit, minlength=8)


@pytest.mark.parametrize(
    ("host", "odds"),
    [
        (Host.USER1, {7: 0.75, 0: 0.25}),
        (Host.USER2, {2: 0.75, 1: 0.25}),
        (Host.USER3, {6: 0.75, 4: 1 / 12, 3: 1 / 12, 1: 1 / 12}),
        (Host.USER4, {6: 0.75, 5: 1 / 16, 4: 1 / 16, 3: 1 / 16, 0: 1 / 16}),
        (Host.ENTERPRISE1, {4: 0.75, 3: 1 / 16, 2: 1 / 16, 1: 1 / 16, 0: 1 / 16}),
    ],
)
def test_exploits_are_chosen_with_the_published_odds(host: int, odds: dict[int, float]) -> None:
    counts = first_exploits(host)
    assert set(np.flatnonzero(counts)) == set(odds)
    assert_frequencies(counts[list(odds)], np.array(list(odds.values())))


def test_reverse_shells_are_detected_in_95_percent() -> None:
    envs = VectorEnv(20_000, red="external", length=10)
    envs.reset(seed=6)
    state = envs.get_state()
    state["known_address"] = 1
    envs.set_state(state)
    for kind in (2, 3):
        envs.step({"blue": np.zeros(20_000, int), "red": np.tile([kind, Host.USER2], (20_000, 1))})
    detected = int(envs.get_state()["event_shell"].sum())
    assert_frequencies(np.array([detected, 20_000 - detected]), np.array([0.95, 0.05]))


def test_bline_draws_its_target_evenly() -> None:
    envs = VectorEnv(20_000, red="bline", length=10)
    envs.reset(seed=7)
    for _ in range(2):
        envs.step(np.zeros(20_000, int))
    counts = np.bincount(envs.truth.red_target, minlength=13)[Host.USER1 :]
    assert counts.sum() == 20_000
    assert_frequencies(counts, np.full(4, 0.25))


def test_meander_picks_evenly_among_what_it_knows() -> None:
    envs = VectorEnv(20_000, red="meander", length=10)
    envs.reset(seed=8)
    envs.step(np.zeros(20_000, int))  # sweeps the User subnet
    envs.step(np.zeros(20_000, int))  # scans one of five
    counts = np.bincount(envs.truth.red_target, minlength=13)[Host.USER0 :]
    assert counts.sum() == 20_000
    assert_frequencies(counts, np.full(5, 0.2))


def test_an_escalation_lifts_each_of_several_sessions_evenly() -> None:
    # Three sessions in the order reported, hidden, reported: each is lifted in one of three cases.
    envs = VectorEnv(20_000, red="external", length=10)
    envs.reset(seed=9)
    state = envs.get_state()
    h = Host.USER2
    state["known_host"][:, h] = 1
    state["sessions"][:, h] = 3
    state["removable"][:, h] = 2
    state["hidden"][:, h] = 1
    state["lead"][:, h] = 1
    state["oldest_fixed"][:, h] = 1
    state["access"][:, h] = state["access_oldest"][:, h] = 1
    state["held"] |= 1 << h
    envs.set_state(state)
    envs.step({"blue": np.zeros(20_000, int), "red": np.tile([4, h], (20_000, 1))})
    after = envs.get_state()
    first = after["access_oldest"][:, h] == 2
    second = after["hidden"][:, h] == 0
    third = (after["removable"][:, h] == 1) & (after["access_oldest"][:, h] == 1) & ~second
    assert_frequencies(np.array([first.sum(), second.sum(), third.sum()]), np.full(3, 1 / 3))
    # Remove then leaves the oldest fixed session on top: privileged unless the third was lifted.
    envs.step({"blue": np.full(20_000, 15 + h), "red": np.zeros((20_000, 2), int)})
    assert (envs.truth.access_oldest[:, h] == np.where(third, 1, 2)).all()


def test_the_stream_is_uniform_and_seeds_are_unrelated() -> None:
    from garrison.cage2.rng import seed_streams

    streams = seed_streams(list(range(50_000)))
    assert len(np.unique(streams, axis=0)) == 50_000
    for word in streams.T:
        assert_frequencies(np.bincount(word >> 28, minlength=16), np.full(16, 1 / 16))
    envs = VectorEnv(60_000, red={"bline": 0.25, "meander": 0.25, "sleep": 0.5})
    envs.reset(seed=0)
    assert_frequencies(np.bincount(envs.truth.red), np.array([0.25, 0.25, 0.5]))
    assert Red.SLEEP == 2
