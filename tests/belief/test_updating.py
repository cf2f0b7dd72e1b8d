"""The compiled filter, against the same in NumPy (`tests.helpers.slow_belief`)."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.agents import load_agent
from garrison.belief import Belief, Beliefs, BeliefSettings, filter
from garrison.belief.merging import as_words, digests, make_pool
from garrison.belief.updating import settle
from garrison.cage2 import VectorEnv
from garrison.cage2.layout import MAX_LENGTH, STATE
from garrison.cage2.names import Host
from garrison.errors import UserError
from tests.helpers.slow_belief import SlowBelief

REDS = ["bline", "meander", "sleep"]
STEPS = 40


def _steps(
    agent_name: str, rules: str, encoder: str, num_envs: int = 3, steps: int = STEPS
) -> list[tuple[NDArray[np.int64], NDArray[np.int8]]]:
    """Return the actions of every step of a batch against all attackers, and what was shown."""
    agent = load_agent(agent_name)
    envs = VectorEnv(num_envs, red=REDS * (num_envs // 3), rules=rules, encoder=encoder, length=MAX_LENGTH)
    observations, _ = envs.reset(seed=8)
    agent.begin(num_envs, seed=8)
    played = []
    for _ in range(steps):
        actions = np.array(agent.act(observations), np.int64)
        observations, *_ = envs.step(actions)
        played.append((actions, observations.copy()))
    return played


def _assert_same(belief: Belief | SlowBelief, expected: Belief | SlowBelief) -> None:
    assert belief.misses == expected.misses
    keys, wanted = digests(belief.states), digests(expected.states)
    assert sorted(keys.tolist()) == sorted(wanted.tolist())
    np.testing.assert_allclose(belief.weights[np.argsort(keys)], expected.weights[np.argsort(wanted)], 0, 1e-12)


@pytest.mark.parametrize("encoder", ["challenge", "wrapper2"])
@pytest.mark.parametrize("rules", ["head", "leaderboard"])
@pytest.mark.parametrize("agent", ["record", "random", "react-remove", "belief-restore", "sleep"])
def test_after_every_step_it_is_what_numpy_finds(agent: str, rules: str, encoder: str) -> None:
    beliefs = Beliefs(len(REDS), rules, encoder)
    slow = [SlowBelief(rules, encoder) for _ in REDS]
    for actions, observations in _steps(agent, rules, encoder):
        beliefs.update(actions, observations)
        for row, expected in enumerate(slow):
            expected.update(int(actions[row]), observations[row])
            _assert_same(beliefs[row], expected)


def test_when_nothing_fits_the_nearest_ones_are_those_that_numpy_keeps() -> None:
    """What was shown is spoiled in some steps: by one bit, by an event on another host, to what no encoder writes."""
    random = np.random.default_rng(4)
    beliefs, slow = Beliefs(3, "head"), [SlowBelief("head", "challenge") for _ in REDS]
    for number, (actions, observations) in enumerate(_steps("random", "head", "challenge", steps=24)):
        if number % 3 == 2:
            observations[number % 2, random.integers(52)] ^= 1
            observations[1 - number % 2, ::4] = np.roll(observations[1 - number % 2, ::4], 1)
            observations[2] = random.integers(0, 2, 52) if number < 12 else 1
        beliefs.update(actions, observations)
        for row, expected in enumerate(slow):
            expected.update(int(actions[row]), observations[row])
            _assert_same(beliefs[row], expected)
    assert (beliefs.misses >= 4).all()


def test_an_escalation_lifts_each_of_several_sessions() -> None:
    user = Host.USER1
    state = Beliefs(1, "head", settings=BeliefSettings(prior={"bline": 1.0})).states(0).copy()
    state["bline_state"], state["bline_user"], state["red_success"] = 2, user, 1  # the next step escalates on User1
    state["sessions"][0, user], state["removable"][0, user], state["hidden"][0, user] = 6, 4, 2
    state["lead"][0, user], state["oldest_fixed"][0, user], state["access"][0, user] = 1, 1, 1
    beliefs, slow = Beliefs(1, "head"), SlowBelief("head", "challenge")
    beliefs._sets.counts[0] = 1
    beliefs.states(0)[0], beliefs.weights(0)[0] = state[0], 1.0
    slow.states, slow.weights = state.copy(), np.ones(1)
    beliefs.update(np.zeros(1, np.int64), np.zeros((1, 52)))
    slow.update(0, np.zeros(52))
    _assert_same(beliefs[0], slow)
    assert sorted(beliefs.weights(0)) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 3 / 6])


def test_what_is_unlikely_is_dropped_as_numpy_drops_it() -> None:
    settings = BeliefSettings(least_weight=0.01)
    some, all_of_them = Beliefs(3, "head", settings=settings), Beliefs(3, "head")
    slow = [SlowBelief("head", "challenge", settings) for _ in REDS]
    dropped = 0
    for actions, observations in _steps("record-head", "head", "challenge"):
        some.update(actions, observations)
        all_of_them.update(actions, observations)
        for row, expected in enumerate(slow):
            expected.update(int(actions[row]), observations[row])
            _assert_same(some[row], expected)
            dropped += len(all_of_them.weights(row)) - len(some.weights(row))
    assert dropped > 50


def test_of_too_many_the_likeliest_are_kept() -> None:
    """Where several are equally likely, rounding decides: so each step is looked at by itself."""
    settings = BeliefSettings(most_states=5)
    slow, beliefs = SlowBelief("head", "challenge", settings), Beliefs(3, "head")
    found, weights, pool = np.zeros(5, STATE), np.zeros(5), make_pool(256)
    dropped = 0
    for actions, observations in _steps("record-head", "head", "challenge"):
        beliefs.update(actions, observations)
        for belief in beliefs:
            count = settle(as_words(belief.states), belief.weights, pool, as_words(found), weights, 5, 1e-6)
            states, expected = slow._likeliest(belief.states, belief.weights)
            assert found[:count].tobytes() == states.tobytes()
            np.testing.assert_allclose(weights[:count], expected, 0, 1e-12)
            dropped += len(belief.weights) - count
    assert dropped > 50


def test_the_likeliest_comes_first_and_of_equal_ones_the_lower_digest() -> None:
    beliefs = Beliefs(3, "head")
    ties = 0
    for actions, observations in _steps("random", "head", "challenge"):
        beliefs.update(actions, observations)
        for belief in beliefs:
            keys, weights = digests(belief.states), belief.weights
            assert np.lexsort((keys, -weights)).tolist() == list(range(len(keys)))
            assert weights.sum() == pytest.approx(1, abs=1e-12)
            ties += int((np.diff(weights) == 0).sum())
    assert ties > 0


def test_a_row_is_what_it_is_alone_whoever_else_is_in_the_batch() -> None:
    played = _steps("random", "leaderboard", "challenge", num_envs=6)
    together, alone, single = Beliefs(6), [Beliefs(1) for _ in range(6)], Belief()
    backwards = Beliefs(6)
    for actions, observations in played:
        together.update(actions, observations)
        backwards.update(actions[::-1], observations[::-1])
        single.update(int(actions[4]), observations[4])
        for row, own in enumerate(alone):
            own.update(actions[row : row + 1], observations[row : row + 1])
            for other in (backwards[5 - row], own[0]):
                assert other.states.tobytes() == together.states(row).tobytes()
                assert other.weights.tobytes() == together.weights(row).tobytes()
        assert single.states.tobytes() == together.states(4).tobytes()


def test_threads_with_beliefs_of_their_own_find_the_same() -> None:
    played = _steps("random", "leaderboard", "challenge", num_envs=6)

    def play(rows: slice) -> list[bytes]:
        beliefs = Beliefs(3)
        for actions, observations in played:
            beliefs.update(actions[rows], observations[rows])
        return [belief.states.tobytes() + belief.weights.tobytes() for belief in beliefs]

    parts = [slice(0, 3), slice(3, 6)]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(play, parts)) == [play(part) for part in parts]


def test_room_grows_as_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    played = _steps("record-head", "head", "challenge", num_envs=6)
    expected = Beliefs(6, "head")
    monkeypatch.setattr(filter, "FEW", 4)
    monkeypatch.setattr(filter, "MANY", 4)
    small = Beliefs(6, "head")
    most = np.zeros(6, np.int64)
    for actions, observations in played:
        expected.update(actions, observations)
        small.update(actions, observations)
        for row in range(6):
            assert small.states(row).tobytes() == expected.states(row).tobytes()
            assert small.weights(row).tobytes() == expected.weights(row).tobytes()
        most = np.maximum(most, [len(belief.weights) for belief in expected])
    assert most.max() > 8
    rooms = small._sets.rooms
    assert ((rooms >= [len(belief.weights) for belief in expected]) & (rooms < np.maximum(2 * most, 5))).all()
    assert len(set(rooms.tolist())) > 1, "each has its own"
    order = np.argsort(small._sets.places)
    ends = (small._sets.places + rooms)[order]
    assert (ends <= [*small._sets.places[order][1:], small._sets.used[0]]).all(), "and nobody else's"
    assert small._sets.used[0] <= len(small._sets.weights)


def test_only_rows_of_the_mask_begin_or_go_on() -> None:
    played = _steps("random", "head", "challenge", steps=6)
    beliefs, mask = Beliefs(3, "head"), np.array([False, True, False])
    for actions, observations in played:
        beliefs.update(actions, observations)
    before = [belief.states for belief in beliefs]
    beliefs.update(*played[0], mask=mask)
    assert [belief.states.tobytes() == old.tobytes() for belief, old in zip(beliefs, before, strict=True)] == [
        True,
        False,
        True,
    ]
    beliefs.begin(mask)
    assert beliefs.weights(1).tolist() == pytest.approx([0.45, 0.45, 0.1])
    assert beliefs.states(0).tobytes() == before[0].tobytes()
    assert beliefs.misses[1] == 0


def test_clones_of_rows_go_on_as_these_would() -> None:
    played = _steps("record-head", "head", "challenge")
    beliefs = Beliefs(3, "head")
    for actions, observations in played[:30]:
        beliefs.update(actions, observations)
    rows = np.array([2, 0, 0])
    twin, copied = beliefs.clone(rows), pickle.loads(pickle.dumps(beliefs))
    for actions, observations in played[30:]:
        twin.update(actions[rows], observations[rows])
    assert beliefs.states(0).tobytes() != twin.states(1).tobytes()
    for actions, observations in played[30:]:
        beliefs.update(actions, observations)
        copied.update(actions, observations)
        assert [belief.states.tobytes() for belief in copied] == [belief.states.tobytes() for belief in beliefs]
    for place, row in enumerate(rows.tolist()):
        assert twin.states(place).tobytes() == beliefs.states(row).tobytes()
        assert twin.misses[place] == beliefs.misses[row]


def test_access_and_attackers_of_a_batch_are_those_of_its_rows() -> None:
    beliefs = Beliefs(3, "head")
    for actions, observations in _steps("random", "head", "challenge", steps=12):
        beliefs.update(actions, observations)
    for row, belief in enumerate(beliefs):
        levels = np.stack([belief.weights @ (belief.states["access"] == level) for level in range(3)], axis=1)
        np.testing.assert_allclose(beliefs.access()[row], levels, 0, 1e-12)
        np.testing.assert_allclose(belief.access(), levels, 0, 1e-12)
        assert belief.reds() == {name: odds[row] for name, odds in beliefs.reds().items()}
    assert beliefs[-1].reds() == beliefs[2].reds()
    assert len(beliefs) == 3


@pytest.mark.parametrize(
    ("actions", "observations", "message"),
    [
        (np.zeros(2, np.int64), np.zeros((3, 52)), "3 actions"),
        (np.zeros(3), np.zeros((3, 52)), "3 actions"),
        (np.zeros(3, np.int64), np.zeros((3, 50)), "52 bits"),
        (np.array([0, -1, 0]), np.zeros((3, 52)), "144; got -1"),
    ],
)
def test_what_is_no_batch_of_actions_or_observations_is_refused(
    actions: NDArray[np.int64], observations: NDArray[np.int8], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        Beliefs(3, "head").update(actions, observations)
