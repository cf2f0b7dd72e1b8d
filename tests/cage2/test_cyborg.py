"""The adapter to the original CybORG; what needs CybORG itself runs when it can be imported."""

import importlib.util
import random
from typing import Any

import gymnasium
import numpy as np
import pytest

import garrison.vector
from garrison.cage2.cyborg import check_rules, decoys_hide_nothing
from garrison.cage2.names import RULES
from garrison.cage2.traces import load_trace
from garrison.challenge.conformance import RECORDINGS
from garrison.errors import UserError
from tests.helpers.vector_samples import assert_same

HAVE = importlib.util.find_spec("CybORG") is not None
needs_cyborg = pytest.mark.skipif(not HAVE, reason="the original CybORG is not importable")
pytestmark = pytest.mark.filterwarnings("default")  # CybORG's own dependencies warn


@pytest.mark.skipif(HAVE, reason="CybORG is importable")
def test_without_cyborg_one_sentence_says_how_to_get_it() -> None:
    with pytest.raises(UserError, match=r"CybORG is not installed: git clone .* && pip install"):
        gymnasium.make("garrison/CybORG-v0")
    with pytest.raises(UserError, match="CybORG is not installed"):
        garrison.vector.make("garrison/CybORG-v0", 2, "shared")


DECOY = {"PID": 1, "Service Name": "apache2"}  # what Blue's own decoy leaves on a host
EVENT = {"Connections": [{"local_port": 22, "remote_port": 51000}]}  # and Red's connections


@pytest.mark.parametrize(
    ("activity", "verdict", "shown"),
    [
        ([DECOY], "None", "None"),  # an accepted decoy is no event of Red's
        ([DECOY, EVENT], "None", "Scan"),
        ([DECOY, EVENT, EVENT], "Exploit", "Exploit"),
        ([EVENT], "Scan", "Scan"),
    ],
)
def test_a_fresh_decoy_alone_is_no_scan(activity: list[Any], verdict: str, shown: str) -> None:
    assert decoys_hide_nothing(lambda _: verdict)(activity) == shown


@needs_cyborg
@pytest.mark.parametrize(("encoder", "recorded"), [("challenge", "obs"), ("wrapper2", "obs_cw2")])
@pytest.mark.parametrize("red", ["bline", "meander"])
def test_both_encoders_show_what_was_recorded(red: str, encoder: str, recorded: str) -> None:
    trace = load_trace(RECORDINGS / f"{check_rules(None)}_{red}_30.npz")
    env = gymnasium.make("garrison/CybORG-v0", red=red, length=30, encoder=encoder)
    for e in range(trace.episodes):
        shown = [env.reset(seed=int(trace.arrays["seed"][e]))[0]]
        for action in trace.arrays["action"][e].tolist():
            shown.append(env.step(action)[0])
        np.testing.assert_array_equal(shown, trace.arrays[recorded][e], err_msg=f"episode {e}")


class Scripted:
    """Restores two hosts in turn, then sleeps: a Garrison agent with a memory."""

    def __init__(self) -> None:
        self.t = 0
        self.resets = 0

    def begin(self, num_envs: int, seed: int = 0) -> None:
        assert num_envs == 1
        self.reset(np.ones(1, bool))

    def reset(self, mask: Any) -> None:
        assert mask.tolist() == [True]
        self.t = 0
        self.resets += 1

    def act(self, observations: Any) -> Any:
        assert observations.shape == (1, 52)
        assert observations.dtype == np.int8
        self.t += 1
        return np.array([(0, 133, 139)[self.t % 3]])


def episode(env: Any, seed: int, actions: Any) -> list[Any]:
    seen = [env.reset(seed=seed)[0]]
    for action in actions:
        observation, reward, *_ = env.step(action)
        seen.append((observation, reward))
    return seen


@needs_cyborg
@pytest.mark.parametrize("red", ["bline", "meander"])
def test_it_is_cyborg_as_the_challenge_ran_it(red: str) -> None:
    from garrison.cage2.cyborg import build

    actions = np.random.default_rng(0).integers(0, 145, 30).tolist()
    env = gymnasium.make("garrison/CybORG-v0", red=red, length=30)
    _, wrapped = build(red)
    for seed in (0, 1):
        random.seed(seed)
        expected: list[Any] = [wrapped.reset()]
        for action in actions:
            observation, reward, _, _ = wrapped.step(action)
            expected.append((observation, reward))
        seen = episode(env, seed, actions)
        np.testing.assert_array_equal(seen[0], expected[0])
        for (a, x), (b, y) in zip(seen[1:], expected[1:], strict=True):
            np.testing.assert_array_equal(a, b)
            assert x == y


@needs_cyborg
def test_gymnasiums_own_check_passes() -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make("garrison/CybORG-v0", length=10).unwrapped, skip_render_check=True)


@needs_cyborg
def test_same_spaces_and_extras_as_ours() -> None:
    theirs: Any = garrison.vector.make("garrison/CybORG-v0", 2, "serial", extras=["access", "access_oldest"])
    ours: Any = garrison.vector.make("garrison/CAGE2-v0", 2, "native", extras=["access", "access_oldest"])
    assert theirs.observation_space == ours.observation_space
    assert theirs.action_space == ours.action_space
    theirs.reset(seed=0)
    ours.reset(seed=0)
    for name in ("access", "access_oldest"):
        assert theirs.extras[name].dtype == ours.extras[name].dtype
        assert theirs.extras[name].tolist() == ours.extras[name].tolist()  # only User0 is Red's at first
    for _ in range(20):
        theirs.step(np.zeros(2, int))
    assert theirs.extras["access"].sum() > 2 * 2


@needs_cyborg
@pytest.mark.parametrize("backend", ["threads", "pipes", "shared", "joint", "async"])
def test_every_backend_plays_the_same_episodes(backend: str) -> None:
    def play(envs: Any) -> list[Any]:
        generator = np.random.default_rng(1)
        seen: list[Any] = [envs.reset(seed=5)[0].copy()]
        for _ in range(25):
            results = envs.step(generator.integers(0, 145, 3))
            seen.append([part.copy() for part in results[:4]] + [envs.extras["access"].copy()])
        return seen

    options: dict[str, Any] = {"red": "meander", "length": 12, "extras": ["access"]}
    state = random.getstate()
    expected = play(garrison.vector.make("garrison/CybORG-v0", 3, "serial", **options))
    assert random.getstate() == state  # others' use of the global generator is left alone
    envs = garrison.vector.make("garrison/CybORG-v0", 3, backend, workers=2, **options)
    assert_same(expected, play(envs))
    envs.close()


@needs_cyborg
def test_extras_agree_with_cyborgs_own_true_table() -> None:
    from garrison.cage2.names import ACCESSES, HOSTS

    env: Any = gymnasium.make("garrison/CybORG-v0", red="bline").unwrapped
    env.reset(seed=3)
    layer = env._wrapped
    while not hasattr(layer, "get_table"):
        layer = layer.env
    for _ in range(15):
        env.step(0)
        rows = {row[2]: row[5] for row in layer.get_table("true_table")._rows}
        mine = {host: ACCESSES[level] for host, level in zip(HOSTS, env.extras["access_oldest"](), strict=True)}
        assert {h: a.lower() for h, a in rows.items()} == {h: a.lower() for h, a in mine.items()}


@needs_cyborg
def test_encoders_rules_and_bad_options() -> None:
    with pytest.raises(UserError, match="did you mean 'bline'"):
        gymnasium.make("garrison/CybORG-v0", red="b_line")
    installed = check_rules(None)
    other = next(rules for rules in RULES if rules != installed)
    with pytest.raises(UserError, match=f"plays by the rules '{installed}'"):
        gymnasium.make("garrison/CybORG-v0", rules=other)
    env: Any = gymnasium.make("garrison/CybORG-v0", rules=installed)
    assert env.unwrapped.rules == installed
    # Decoys on a scanned host are where the encoders differ (quirk Q7).
    actions = [15 + i % 100 for i in range(60)]
    seen = {}
    for encoder in ("challenge", "wrapper2"):
        env = gymnasium.make("garrison/CybORG-v0", red="meander", encoder=encoder)
        seen[encoder] = [np.array([o for o, _ in episode(env, seed, actions)[1:]]) for seed in range(4)]
    assert any((a != b).any() for a, b in zip(seen["challenge"], seen["wrapper2"], strict=True))


@needs_cyborg
def test_a_garrison_agent_runs_in_cyborgs_evaluation() -> None:
    from garrison.cage2.cyborg import CyborgAgent, evaluate

    agent = Scripted()
    totals = evaluate(agent, red="bline", length=20, episodes=3, seed=0)
    assert len(totals) == 3
    assert all(-500 < total < 0 for total in totals)
    assert agent.resets == 4  # at the start and after every episode
    assert totals == evaluate(Scripted(), red="bline", length=20, episodes=3, seed=0)
    player = CyborgAgent(Scripted())
    assert player.get_action(np.zeros(52), 145) == 133
    player.end_episode()
    assert player.get_action(np.zeros(52), 145) == 133
