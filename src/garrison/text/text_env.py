"""One CAGE-2 environment with text on both sides, behind Gymnasium's interface."""

import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium import spaces

from garrison.agents.learned_red import find_red
from garrison.cage2.env import Env
from garrison.cage2.names import DEFAULT_LENGTH, DEFAULT_RED, DEFAULT_RULES
from garrison.cage2.red_agent import RedAgent
from garrison.text.action_words import LONGEST, ActionRefused, read_action
from garrison.text.notebook import DEFAULT_HISTORY, DEFAULT_VIEW, Notebook, Telling, action_name
from garrison.text.renaming import Names

CHARACTERS = frozenset(string.printable + "→")
LONGEST_TURN, LONGEST_REST = 1_200, 16_384  # characters that a turn of the history can take, and all else
REFUSED = "refused"
"""The key of an info that says why an action was refused"""
ACTION = "action"
"""The key of an info that has the action that was played, by its name"""


class TextEnv(gymnasium.Env[str, str]):
    """CAGE Challenge 2 for an agent of words: an observation is a text, and so is an action.

    The same seed and actions give the same game as `garrison.cage2.Env`. An action that is not clear **is refused, and
    no turn is played**: the observation begins with the reason, which is also in `info["refused"]`, and the reward is
    0. `info["action"]` is the action that was played, by its name.

    Args:
        red: who attacks, see `garrison.cage2.VectorEnv`; or a trained attacker, see `garrison.load_red`.
        rules: `head` or `leaderboard`.
        length: turns after which an episode is truncated.
        view: `table`, `json` or `sentences`, see `garrison.text.Telling`.
        history: how many of the last turns an observation tells.
        legal: whether it lists the actions.
        rename: other names of hosts, see `garrison.text.Names`.
        render_mode: None, or `ansi`: `render` returns the last observation.

    >>> env = TextEnv(red="meander", length=30, view="sentences", legal=False)
    >>> observation, info = env.reset(seed=7)
    >>> observation
    'Turn 1. No activity. No host is believed compromised.'
    >>> observation, reward, terminated, truncated, info = env.step("restore usr1")
    >>> info["action"], reward
    ('Restore User1', -1.0)
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self,
        red: str | Mapping[str, float] | RedAgent | type[RedAgent] = DEFAULT_RED,
        rules: str = DEFAULT_RULES,
        length: int = DEFAULT_LENGTH,
        view: str = DEFAULT_VIEW,
        history: int = DEFAULT_HISTORY,
        legal: bool = True,
        rename: "str | Path | Mapping[str, Any] | Names | None" = None,
        render_mode: str | None = None,
    ) -> None:
        self._env = Env(red=find_red(red), rules=rules, length=length)
        self._notebook = Notebook(Telling(view, history, legal, rename), rules)
        longest = LONGEST_REST + LONGEST_TURN * min(history, length)
        self.observation_space = spaces.Text(longest, min_length=0, charset=CHARACTERS)
        self.action_space = spaces.Text(LONGEST, min_length=0, charset=CHARACTERS)
        self.render_mode = render_mode
        self._text = ""

    @property
    def inner(self) -> Env:
        """The environment of bits and numbers behind this one: true state, masks and tables are there."""
        return self._env

    @property
    def names(self) -> Names:
        """What hosts and subnets are called."""
        return self._notebook.names

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        bits, info = self._env.reset(seed=seed)
        self._notebook.begin(bits)
        self._text = self._notebook.text()
        return self._text, info

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play the turn that a text, or a JSON object as a dict, asks for; see `garrison.text.read_action`."""
        try:
            number = read_action(action, self.names)
        except ActionRefused as refusal:
            self._text = self._notebook.text(str(refusal))
            return self._text, 0.0, False, False, {REFUSED: str(refusal)}
        bits, reward, terminated, truncated, info = self._env.step(number)
        self._notebook.add(number, bits)
        self._text = self._notebook.text()
        return self._text, reward, terminated, truncated, {**info, ACTION: action_name(number, self.names)}

    def render(self) -> Any:
        """Return the last observation, if the render mode is `ansi`."""
        return self._text if self.render_mode == "ansi" else None
