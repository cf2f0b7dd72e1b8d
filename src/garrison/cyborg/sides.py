"""One agent's place in the game: who plays it, what it may do, what it was told last."""

from collections.abc import Mapping
from typing import Any

from garrison.cage2.names import SUBNETS
from garrison.cyborg.action_base import Action
from garrison.cyborg.action_space import ActionSpace
from garrison.cyborg.blue_actions import BLUE_ACTIONS
from garrison.cyborg.green_actions import GREEN_ACTIONS
from garrison.cyborg.image_facts import AGENTS, BLUE, GREEN, RED
from garrison.cyborg.observation_data import Observation
from garrison.cyborg.red_actions import RED_ACTIONS
from garrison.cyborg.refusal import NotInGarrison
from garrison.cyborg.step_results import Results

_ACTIONS = {BLUE: BLUE_ACTIONS, GREEN: GREEN_ACTIONS, RED: RED_ACTIONS}


class Side:
    """An agent and what it knows."""

    def __init__(self, name: str, agent_class: type, sleeper: type, script: str | None) -> None:
        self.name = name
        self.action_space = ActionSpace(_ACTIONS[name], name, list(SUBNETS))
        self.sleeps = agent_class is sleeper
        """Played by the stock agent that does nothing: it need not be asked"""
        self.script = script
        """Played by the simulator: the name of the attacker there"""
        self.last_action: Action | None = None
        """What the agent itself chose last"""
        self.told: dict[str, Any] = {}
        """Its last observation"""
        self.agent = agent_class()
        if not self.is_silent:
            self.agent.set_initial_values(
                action_space=self.action_space.get_max_action_space(), observation=Observation().data
            )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotInGarrison(f"agent_interfaces[...].{name}")

    @property
    def is_silent(self) -> bool:
        """Whether the agent's Python code is never run."""
        return self.sleeps or self.script is not None

    def begin(self, state: Mapping[str, Any], told: dict[str, Any]) -> None:
        """Begin an episode in a true state, of which the agent is told a part."""
        self.action_space.reset(self.name)
        self.action_space.update(state, known=False)
        self.action_space.update(told)
        self.told = told

    def tell(self, told: dict[str, Any]) -> None:
        """Give the agent its observation of a step."""
        self.told = told
        self.action_space.update(told)

    def choose(self) -> Action:
        """Ask the agent for an action."""
        action: Action = self.agent.get_action(self.told, self.action_space.get_action_space())
        self.last_action = action
        return action

    def train(self, reward: float, next_observation: dict[str, Any]) -> None:
        """Let the agent learn from a step in which it was inside the game."""
        result = Results(observation=self.told, reward=reward, next_observation=next_observation, done=False)
        result.action = self.last_action
        self.agent.train(result)

    def end_episode(self) -> None:
        """Tell the agent that the next thing it sees is a new episode."""
        if not self.is_silent:
            self.agent.end_episode()


def make_sides(agents: Mapping[str, type] | None, sleeper: type, script: str | None) -> dict[str, Side]:
    """Return the three sides: the given classes, and where none is given Scenario2's, which only sleep."""
    classes = {name: (agents or {}).get(name, sleeper) for name in AGENTS}
    if classes[GREEN] is not sleeper:
        raise NotInGarrison(f"an agent that plays Green ({classes[GREEN].__name__}); Scenario2's only sleeps")
    return {
        name: Side(name, agent_class, sleeper, script if name == RED else None) for name, agent_class in classes.items()
    }
