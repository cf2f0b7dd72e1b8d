"""A belief, against the truth that it never sees."""

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.agents import load_agent
from garrison.belief import Belief, BeliefSettings
from garrison.belief.merging import digests, forget_past
from garrison.cage2 import VectorEnv
from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import Access
from garrison.errors import UserError

STEPS = 40


class Followed:
    """Episodes of a batch, and a belief about each; `at` has, for every step, what was believed and what was true."""

    def __init__(self, agent_name: str, rules: str, red: str, episodes: int) -> None:
        agent = load_agent(agent_name)
        envs = VectorEnv(episodes, red=red, rules=rules, length=MAX_LENGTH)
        observations, _ = envs.reset(seed=5)
        agent.begin(episodes, seed=5)
        self.beliefs = [Belief(rules, agent.encoder) for _ in range(episodes)]
        self.truth_weights: list[list[float]] = []
        self.reds: list[list[float]] = []
        self.privileged: list[NDArray[np.float64]] = []
        self.is_privileged: list[NDArray[np.bool_]] = []
        for _ in range(STEPS):
            actions = agent.act(observations)
            observations, *_ = envs.step(actions)
            truth = envs.get_state()
            forget_past(truth)
            keys = digests(truth)
            for belief, action, bits in zip(self.beliefs, actions, observations, strict=True):
                belief.update(int(action), bits)
            pairs = list(zip(self.beliefs, keys, strict=True))
            self.truth_weights.append([float(b.weights[digests(b.states) == key].sum()) for b, key in pairs])
            self.reds.append([b.reds()[red] for b in self.beliefs])
            self.privileged.append(np.array([b.access()[:, Access.PRIVILEGED] for b in self.beliefs]))
            self.is_privileged.append(truth["access"] == Access.PRIVILEGED)


@pytest.mark.parametrize(
    ("agent", "rules", "red"),
    [
        ("record", "leaderboard", "bline"),
        ("record", "leaderboard", "meander"),
        ("record-head", "head", "meander"),
        ("react-restore", "head", "bline"),
        ("react-remove", "leaderboard", "sleep"),
    ],
)
def test_the_true_state_is_always_among_the_possible_ones(agent: str, rules: str, red: str) -> None:
    followed = Followed(agent, rules, red, 4)
    assert np.min(followed.truth_weights) > 0
    assert [belief.misses for belief in followed.beliefs] == [0, 0, 0, 0]
    assert all(belief.weights.sum() == pytest.approx(1) for belief in followed.beliefs)


@pytest.mark.parametrize("red", ["bline", "meander"])
def test_who_attacks_is_known_after_a_few_steps(red: str) -> None:
    reds = np.array(Followed("record", "leaderboard", red, 4).reds)
    assert reds[0].max() < 0.5  # nothing was seen yet
    assert reds[10:].min() > 1 - 1e-9


def test_a_sleeping_attacker_is_known_by_its_silence() -> None:
    assert np.min(np.array(Followed("record", "leaderboard", "sleep", 1).reds)[5:]) > 1 - 1e-9


@pytest.mark.long
@pytest.mark.parametrize(("agent", "rules"), [("record", "leaderboard"), ("record-head", "head")])
@pytest.mark.parametrize("red", ["bline", "meander"])
def test_hosts_are_lost_as_often_as_is_believed(agent: str, rules: str, red: str) -> None:
    """Given what Blue saw, the belief's probabilities are the expected values of what is true.

    So the difference, summed over an episode, has the mean 0; episodes are independent, so its error is known.
    """
    followed = Followed(agent, rules, red, 24)
    off = (np.array(followed.is_privileged) - np.array(followed.privileged)).sum(axis=(0, 2))
    stderr = off.std(ddof=1) / np.sqrt(len(off))
    assert abs(off.mean()) <= 4 * stderr + 1e-12
    sure = np.array(followed.privileged)
    assert ((sure > 0.01) & (sure < 0.99)).any(), "nothing was ever in doubt, so nothing was tested"


def test_what_cannot_be_is_counted_and_the_nearest_states_are_kept() -> None:
    belief = Belief("head")
    impossible = np.ones(52, np.int8)
    belief.update(0, impossible)
    assert belief.misses == 1
    assert belief.weights.sum() == pytest.approx(1)
    belief.begin()
    assert belief.misses == 0
    assert belief.reds() == pytest.approx({"bline": 0.45, "meander": 0.45, "sleep": 0.1})


def test_only_the_likeliest_states_are_kept() -> None:
    agent = load_agent("record-head-1")
    envs = VectorEnv(1, red="bline", rules="head")
    observations, _ = envs.reset(seed=2)
    agent.begin(1)
    whole, part = Belief("head"), Belief("head", settings=BeliefSettings(most_states=3))
    for _ in range(STEPS):
        action = agent.act(observations)
        observations, *_ = envs.step(action)
        for belief in (whole, part):
            belief.update(int(action[0]), observations[0])
        assert len(part.states) <= 3
        assert (np.diff(whole.weights) <= 0).all()
    assert len(whole.states) > 3


def test_samples_come_as_often_as_their_weights_say() -> None:
    belief = Belief("head", settings=BeliefSettings(prior={"bline": 0.75, "sleep": 0.25}))
    drawn = belief.sample(8, np.random.default_rng(0))
    assert (drawn["red"] == 0).sum() == 6
    assert len(belief.states) == 2


def test_clones_go_on_by_themselves() -> None:
    belief = Belief("head")
    twin = belief.clone()
    twin.update(0, np.zeros(52, np.int8))
    assert belief.weights.tolist() == pytest.approx([0.45, 0.45, 0.1])
    assert twin.states.tobytes() != belief.states.tobytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"most_states": 0}, "most_states"),
        ({"least_weight": 1.0}, "least_weight"),
        ({"prior": {"bline": 0.5}}, "sum to 1"),
        ({"prior": {"nobody": 1.0}}, "bline, meander, sleep"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        BeliefSettings(**settings)  # type: ignore[arg-type]


def test_what_is_no_action_or_no_observation_is_refused() -> None:
    belief = Belief("head")
    with pytest.raises(UserError, match="52 bits"):
        belief.update(0, np.zeros(50, np.int8))
    with pytest.raises(UserError, match="action"):
        belief.update(145, np.zeros(52, np.int8))
