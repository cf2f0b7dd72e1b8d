"""One side of the game as an environment of Gym."""

from typing import Any

import numpy as np

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from garrison.cyborg.gym_api import IS_GYMNASIUM, METADATA, Env, fitting, seed_both, spaces, stepped
from garrison.cyborg.pretty_tables import new_table
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

RENDERED = {
    "Red": ("red_info", ["Subnet", "IP Address", "Hostname", "Scanned", "Access"], "IP Address"),
    "Blue": ("info", ["Subnet", "IP Address", "Hostname", "Activity", "Compromised"], "Hostname"),
}
"""For each side, the rows that its table wrapper keeps, their columns, and which of them sorts."""


class OpenAIGymWrapper(Env, BaseWrapper):  # type: ignore[misc]
    """Plays `agent_name`; the wrapped environment has vectors as observations and numbers as actions.

    Making one resets the environment once, to see how long an observation is.
    """

    def __init__(self, agent_name: str, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent_name)
        self.agent_name = agent_name
        choices = self.get_action_space(agent_name)
        if isinstance(choices, list):
            self.action_space = spaces.MultiDiscrete(choices)
        else:
            assert isinstance(choices, int), "the wrapped environment has no numbered actions"
            self.action_space = spaces.Discrete(choices)
        length = len(self.observation_change(self.env.reset(agent_name).observation))
        self.observation_space = spaces.Box(-1.0, 1.0, shape=(length,), dtype=np.float32)
        self.reward_range = (float("-inf"), float("inf"))
        self.metadata = METADATA
        self.action: Any = None

    def step(self, action: Any = None) -> Any:
        """Play a step; the info has all fields of its Results."""
        self.action = action
        result = self.env.step(self.agent_name, action)
        result.observation = self.observation_change(result.observation)
        result.action_space = self.action_space_change(result.action_space)
        return stepped(np.array(result.observation), result.reward, result.done, False, vars(result))

    if IS_GYMNASIUM:

        def reset(self, agent: Any = None, *, seed: int | None = None, options: Any = None) -> Any:
            """Begin an episode; a seed is Python's global one, from which every draw of the game comes."""
            seed_both(self, seed)
            return fitting(self._begin()), {}

    else:  # without the name `seed`, by which other libraries tell versions of gym apart

        def reset(self, agent: Any = None) -> Any:  # type: ignore[misc]
            """Begin an episode; return its first observation."""
            return self._begin()

    def _begin(self) -> Any:
        result = self.env.reset(self.agent_name)
        result.action_space = self.action_space_change(result.action_space)
        result.observation = self.observation_change(result.observation)
        return np.array(result.observation)

    def render(self) -> None:
        """Print the last actions and the side's table."""
        kept, columns, sort_by = RENDERED[self.agent_name]
        wrapper = self.env
        while not hasattr(wrapper, kept):
            wrapper = wrapper.env
        table = new_table(columns, getattr(wrapper, kept).values(), sort_by)
        if self.action is not None:
            print(f"\n{self.agent_name} Action: {self.get_attr('possible_actions')[self.action]}")
            if self.agent_name == "Blue":
                print(f"Red Action: {self.get_last_action('Red')}")
        print(table)

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)

    def get_observation(self, agent: str) -> Any:
        """Return a side's last observation as the wrapped environment shows it."""
        return self.env.get_observation(agent)

    def get_agent_state(self, agent: str) -> Any:
        """Return what a side can see now; `True` sees everything."""
        return self.get_attr("get_agent_state")(agent)

    def get_action_space(self, agent: str) -> Any:
        """Return the number of actions, or numbers for each part of one."""
        return self.env.get_action_space(agent)

    def get_last_action(self, agent: str) -> Any:
        """Return what a side did last."""
        return self.get_attr("get_last_action")(agent)

    def get_ip_map(self) -> Any:
        """Return the addresses of the hosts."""
        return self.get_attr("get_ip_map")()

    def get_rewards(self) -> Any:
        """Return the rewards of the last step."""
        return self.get_attr("get_rewards")()
