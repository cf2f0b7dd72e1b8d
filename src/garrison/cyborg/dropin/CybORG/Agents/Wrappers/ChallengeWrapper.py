"""The environment of CAGE Challenge 2: a vector in, a number out."""

from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from CybORG.Agents.Wrappers.BlueTableWrapper import BlueTableWrapper
from CybORG.Agents.Wrappers.EnumActionWrapper import EnumActionWrapper
from CybORG.Agents.Wrappers.OpenAIGymWrapper import OpenAIGymWrapper
from CybORG.Agents.Wrappers.RedTableWrapper import RedTableWrapper
from CybORG.CybORG import CybORG
from garrison.cyborg.gym_api import IS_GYMNASIUM, METADATA, Env, first, fitting, four, seed_both, stepped
from garrison.cyborg.refusal import refuses
from garrison.cyborg.shortcut import Shortcut

__getattr__ = refuses(__name__)

TABLES = {"red": RedTableWrapper, "blue": BlueTableWrapper}


class ChallengeWrapper(Env, BaseWrapper):  # type: ignore[misc]
    """A table wrapper in vector mode, numbered actions and Gym's interface around a CybORG; ends after `max_steps`.

    Around Garrison's own core, Blue's steps need no dict and take a short way. Who reads `env` gets the wrappers below
    as if every step had gone through them, and from then on every step does.
    """

    _shortcut: Shortcut | None

    def __init__(
        self,
        agent_name: str,
        env: Any,
        agent: Any = None,
        reward_threshold: float | None = None,
        max_steps: int | None = None,
    ) -> None:
        super().__init__(env, agent)
        if agent_name.lower() not in TABLES:
            raise ValueError(f"ChallengeWrapper plays Blue or Red, not {agent_name!r}")
        self.agent_name = agent_name
        table = TABLES[agent_name.lower()](env, output_mode="vector")
        gym = OpenAIGymWrapper(agent_name=agent_name, env=EnumActionWrapper(table))
        self.env = gym
        self.action_space = gym.action_space
        self.observation_space = gym.observation_space
        self.metadata = METADATA
        self.reward_threshold = reward_threshold
        self.max_steps = max_steps
        self.step_counter: Any = None
        is_ours = type(self) is ChallengeWrapper and type(env) is CybORG and agent_name == "Blue"
        if is_ours and env._fast_blue is not None:
            self._shortcut = Shortcut(env._fast_blue, gym)

    @property
    def env(self) -> Any:
        """The wrappers below."""
        if self._shortcut is not None:
            self._shortcut.settle()
            self._shortcut = None
        return self._below

    @env.setter
    def env(self, env: Any) -> None:
        self._below = env
        self._shortcut = None

    def step(self, action: Any = None) -> Any:
        """Play a step."""
        played = self._shortcut.step(action) if self._shortcut is not None else None
        observation, reward, done, info = played or four(self._below.step(action=action))
        self.step_counter += 1
        is_over = self.max_steps is not None and self.step_counter >= self.max_steps
        return stepped(observation, reward, done, is_over, info)

    if IS_GYMNASIUM:

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            """Begin an episode; a seed is Python's global one, from which every draw of the game comes."""
            seed_both(self, seed)
            return fitting(self._begin()), {}

    else:  # without the name `seed`, by which other libraries tell versions of gym apart

        def reset(self) -> Any:  # type: ignore[misc]
            """Begin an episode; return its first observation."""
            return self._begin()

    def _begin(self) -> Any:
        self.step_counter = 0
        if self._shortcut is not None:
            return self._shortcut.reset()
        return first(self._below.reset())

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the numbered actions, or of the CybORG inside."""
        return self._below.get_attr(attribute)

    def get_observation(self, agent: str) -> Any:
        """Return a side's last observation."""
        return self._below.get_observation(agent)

    def get_agent_state(self, agent: str) -> Any:
        """Return what a side can see now; `True` sees everything."""
        return self._below.get_agent_state(agent)

    def get_action_space(self, agent: Any = None) -> Any:
        """Return the number of actions of the side that is played, whoever is asked for."""
        if self._shortcut is not None:
            return int(self.action_space.n)  # always the same for Blue
        return self._below.get_action_space(self.agent_name)

    def set_seed(self, seed: int) -> None:
        """Seed Python's global generator."""
        self._below.set_seed(seed)

    def shutdown(self, **kwargs: Any) -> Any:
        """Shut the CybORG inside down."""
        return self._below.shutdown(**kwargs)

    def get_last_action(self, agent: str) -> Any:
        """Return what a side did last."""
        return self.get_attr("get_last_action")(agent)

    def get_ip_map(self) -> Any:
        """Return the addresses of the hosts."""
        return self.get_attr("get_ip_map")()

    def get_rewards(self) -> Any:
        """Return the rewards of the last step."""
        return self.get_attr("get_rewards")()

    def get_reward_breakdown(self, agent: str) -> Any:
        """Return a side's rewards of the last step, by host."""
        return self.get_attr("get_reward_breakdown")(agent)
