"""What every wrapper passes on: to an environment outside, or to an agent inside."""

from typing import Any

from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class BaseWrapper:
    """Changes the observations and action spaces of an environment (`env`) or those that an `agent` is given."""

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        self.env = env
        self.agent = agent

    def step(self, agent: Any = None, action: Any = None) -> Any:
        """Play a step of the environment; return its Results, changed."""
        result = self.env.step(agent, action)
        result.observation = self.observation_change(result.observation)
        result.action_space = self.action_space_change(result.action_space)
        return result

    def reset(self, agent: Any = None) -> Any:
        """Begin an episode; return its Results, changed."""
        result = self.env.reset(agent)
        result.action_space = self.action_space_change(result.action_space)
        result.observation = self.observation_change(result.observation)
        return result

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the agent's action for what it is shown, changed."""
        return self.agent.get_action(self.observation_change(observation), self.action_space_change(action_space))

    def train(self, result: Any) -> None:
        """Pass a step on to the agent, changed."""
        result.action_space = self.action_space_change(result.action_space)
        result.observation = self.observation_change(result.observation)
        self.agent.train(result)

    def set_initial_values(self, observation: Any, action_space: Any) -> None:
        """Pass the first values on to the agent."""
        self.agent.set_initial_values(action_space, observation)

    def observation_change(self, observation: Any) -> Any:
        """Return an observation as this wrapper shows it."""
        return observation

    def action_space_change(self, action_space: Any) -> Any:
        """Return an action space as this wrapper shows it."""
        return action_space

    def end_episode(self) -> None:
        """Tell the agent that the episode has ended."""
        self.agent.end_episode()

    def get_action_space(self, agent: str) -> Any:
        """Return a side's action space, changed."""
        return self.action_space_change(self.env.get_action_space(agent))

    def get_observation(self, agent: str) -> Any:
        """Return a side's last observation, changed."""
        return self.observation_change(self.env.get_observation(agent))

    def get_last_action(self, agent: str) -> Any:
        """Return what a side did last."""
        return self.env.get_last_action(agent=agent)

    def set_seed(self, seed: int) -> None:
        """Seed the environment."""
        self.env.set_seed(seed)

    def shutdown(self, **kwargs: Any) -> Any:
        """Shut the environment down."""
        return self.env.shutdown(**kwargs)

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of this wrapper, or of what it wraps."""
        if hasattr(self, attribute):
            return getattr(self, attribute)
        return self.env.get_attr(attribute)
