"""The original CybORG as a Gymnasium environment, and Garrison's agents inside CybORG's own evaluation.

CybORG is not on any package index. With it importable, `garrison/CybORG-v0` has the spaces, names and extras of
`garrison/CAGE2-v0`, so that code and agents move between the two without a change.
"""

import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.cage2.infos import EPISODE
from garrison.cage2.names import ACTIONS, ENCODERS, HOSTS, NUM_ACTIONS, RULES, Access
from garrison.cage2.observe import NUM_BITS
from garrison.errors import UserError, choose

INSTALL = (
    "CybORG is not installed: git clone https://github.com/cage-challenge/cage-challenge-2 && "
    "pip install -e cage-challenge-2/CybORG"
)
CYBORG_REDS = {"bline": "B_lineAgent", "meander": "RedMeanderAgent", "sleep": "SleepAgent"}

# CybORG draws from Python's global generator: one of them at a time may borrow it.
_BORROWED = Lock()


class CyborgEnv(gymnasium.Env[NDArray[np.int8], Any]):
    """CAGE Challenge 2 played by CybORG itself: 52 bits in, one of 145 actions out, truncated at `length`.

    Every environment has a random stream of its own, which it puts in the place of Python's global one while CybORG
    runs: so a seed means the same in any batch, and other users of `random` are left alone. A seed s gives the episode
    that `random.seed(s)` right before CybORG's reset gives.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self, red: str = "bline", rules: str | None = None, length: int = 100, encoder: str = "challenge"
    ) -> None:
        choose("red", red, list(CYBORG_REDS))
        choose("encoder", encoder, ENCODERS)
        if length < 1:
            raise UserError(f"length must be at least 1; got {length}")
        self.rules = check_rules(rules)
        self.length = length
        self.observation_space = spaces.Box(0, 1, (NUM_BITS,), np.int8)
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self._stream: Any = random.Random().getstate()
        with self._own_stream():
            self.cyborg, self._wrapped = build(red, encoder)
        self._t = 0
        self._return = 0.0
        self.extras: dict[str, Callable[[], NDArray[np.int8]]] = {
            "access": self._access,
            "access_oldest": self._access_oldest,
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        with self._own_stream():
            if seed is not None:
                random.seed(seed)
            observation = self._wrapped.reset()
        self._t = 0
        self._return = 0.0
        return np.asarray(observation, np.int8), {}

    def step(self, action: Any) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Play one turn."""
        with self._own_stream():
            observation, reward, _, _ = self._wrapped.step(int(action))
        self._t += 1
        self._return += reward
        truncated = self._t >= self.length
        info = {EPISODE: {"r": self._return, "l": self._t}} if truncated else {}
        return np.asarray(observation, np.int8), float(reward), False, truncated, info

    @contextmanager
    def _own_stream(self) -> Iterator[None]:
        with _BORROWED:
            others = random.getstate()
            random.setstate(self._stream)
            try:
                yield
            finally:
                self._stream = random.getstate()
                random.setstate(others)

    def _access(self) -> NDArray[np.int8]:
        """Red's best session on each host: what the reward sees."""
        return np.array([max(levels, default=Access.NONE) for levels in self._levels()], np.int8)

    def _access_oldest(self) -> NDArray[np.int8]:
        """Red's oldest session on each host: what CybORG's true table shows."""
        return np.array([levels[0] if levels else Access.NONE for levels in self._levels()], np.int8)

    def _levels(self) -> list[list[int]]:
        # Straight from the state's objects: the dict of get_agent_state('True') takes longer than a step.
        state = self.cyborg.environment_controller.state
        sessions = state.sessions["Red"]
        found = []
        for name in HOSTS:
            users = [sessions[number].username for number in state.hosts[name].sessions.get("Red", ())]
            found.append([Access.PRIVILEGED if user in ("root", "SYSTEM") else Access.USER for user in users])
        return found


def build(red: str, encoder: str = "challenge") -> tuple[Any, Any]:
    """Return CybORG with the scenario of the challenge, and the same in the challenge's wrapper."""
    cyborg_class, agents, wrapper = _import()
    scenario = Path(inspect.getfile(cyborg_class)).parent / "Shared" / "Scenarios" / "Scenario2.yaml"
    cyborg = cyborg_class(str(scenario), "sim", agents={"Red": agents[CYBORG_REDS[red]]})
    wrapped = wrapper(env=cyborg, agent_name="Blue")
    names = [str(action) for action in wrapped.get_attr("possible_actions")]
    expected = [action.name for action in ACTIONS]
    if names != expected:
        k = next(
            (k for k, (a, b) in enumerate(zip(names, expected, strict=False)) if a != b), min(len(names), NUM_ACTIONS)
        )
        raise UserError(f"this CybORG has {len(names)} actions, the first unlike CAGE-2's is number {k}")
    if encoder == "wrapper2":
        _show_decoyed_scans(wrapped)
    return cyborg, wrapped


def check_rules(rules: str | None) -> str:
    """Return the rules that the installed CybORG plays, `head` or `leaderboard`; raise if others are asked for."""
    _import()
    from CybORG.Simulator.Session import RedAbstractSession

    # What tells them apart: since the final leaderboard, a scan replaces what Red knew of a host's ports.
    installed = "head" if hasattr(RedAbstractSession, "clearports") else "leaderboard"
    if rules is not None and choose("rules", rules, RULES) != installed:
        raise UserError(f"the installed CybORG plays by the rules {installed!r}; got rules={rules!r}")
    return installed


class ActsOnBits(Protocol):
    """What `CyborgAgent` needs of a defender; every agent of `garrison.agents` has it."""

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Get ready for episodes that begin."""

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Forget the environments where `mask` is set."""

    def act(self, observations: NDArray[np.int8]) -> NDArray[np.int64]:
        """Choose one of the 145 actions for each row of (n, 52)."""


class CyborgAgent:
    """A Garrison agent as CybORG's evaluation wants it: `get_action(observation, action_space)`, `end_episode()`."""

    def __init__(self, agent: ActsOnBits, seed: int = 0) -> None:
        self._agent = agent
        agent.begin(1, seed)

    def get_action(self, observation: Any, action_space: Any) -> int:
        """Choose an action for the observation of `ChallengeWrapper`."""
        return int(self._agent.act(np.asarray(observation, np.int8).reshape(1, -1))[0])

    def end_episode(self) -> None:
        """Let the agent forget the episode."""
        self._agent.reset(np.ones(1, np.bool_))

    def train(self, results: Any) -> None:
        """Learn nothing: training happens elsewhere."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need nothing."""


def evaluate(
    agent: ActsOnBits,
    red: str = "bline",
    length: int = 100,
    episodes: int = 100,
    encoder: str = "challenge",
    seed: int = 0,
) -> list[float]:
    """Run an agent in the loop of CybORG's own `evaluation.py` and return each episode's total reward.

    It seeds Python's generator once, because CybORG draws from it.
    """
    choose("red", red, list(CYBORG_REDS))
    random.seed(seed)
    _, wrapped = build(red, encoder)
    player = CyborgAgent(agent, seed)
    totals = []
    observation = wrapped.reset()
    action_space = wrapped.get_action_space("Blue")
    for _ in range(episodes):
        total = 0.0
        for _ in range(length):
            action = player.get_action(observation, action_space)
            observation, reward, _, _ = wrapped.step(action)
            total += reward
        player.end_episode()
        totals.append(total)
        observation = wrapped.reset()
    return totals


def _import() -> tuple[Any, dict[str, Any], Any]:
    try:
        from CybORG import CybORG
        from CybORG.Agents import B_lineAgent, SleepAgent
        from CybORG.Agents.SimpleAgents.Meander import RedMeanderAgent
        from CybORG.Agents.Wrappers import ChallengeWrapper
    except ModuleNotFoundError as error:
        if error.name == "CybORG":
            raise UserError(INSTALL) from error
        raise UserError(f"CybORG is there, but it needs {error.name!r}: pip install {error.name}") from error
    agents = {"B_lineAgent": B_lineAgent, "RedMeanderAgent": RedMeanderAgent, "SleepAgent": SleepAgent}
    return CybORG, agents, ChallengeWrapper


def _show_decoyed_scans(wrapped: Any) -> None:
    """Turn the encoder into the winning team's: an event on a host with a fresh decoy counts as a scan (quirk Q7)."""
    from CybORG.Agents.Wrappers import BlueTableWrapper

    layer = wrapped
    while not isinstance(layer, BlueTableWrapper):
        layer = layer.env
    layer._interpret_connections = decoys_hide_nothing(layer._interpret_connections)  # type: ignore


def decoys_hide_nothing(interpret: Callable[[list[Any]], str]) -> Callable[[list[Any]], str]:
    """Return `interpret`, which names a host's activity, but for a fresh decoy that would hide an event of Red's.

    The activity on a host is a list: first the process of a decoy that Blue has just placed, then Red's connections.
    Where the decoy is all there is, nothing happened.
    """

    def interpret_all(activity: list[Any]) -> str:
        verdict = interpret(activity)
        return "Scan" if verdict == "None" and "Connections" in activity[-1] else verdict

    return interpret_all
