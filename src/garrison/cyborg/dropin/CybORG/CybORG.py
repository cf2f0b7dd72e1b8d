"""The class that scripts are written against."""

import random
from typing import Any, ClassVar

from CybORG.Shared import Results
from garrison.cyborg.controller import Controller
from garrison.cyborg.refusal import NotInGarrison, refuses
from garrison.cyborg.scenario_file import check_scenario
from garrison.cyborg.script_settings import chosen_rules

__getattr__ = refuses(__name__)


class CybORG:
    """CAGE Challenge 2's Scenario2 as an environment for agents on either side.

    Every draw comes from Python's global generator, in the original's order: the same seed gives the same episode.

    Args:
        scenario_file: a path that ends in Scenario2.yaml.
        environment: `sim`; there is no emulator.
        env_config: nothing, since the simulator has no settings.
        agents: classes that play inside, by side; the stock agents are played by the compiled simulator.
    """

    supported_envs: ClassVar = ["sim", "aws"]

    def __init__(
        self, scenario_file: str, environment: str = "sim", env_config: Any = None, agents: dict[str, Any] | None = None
    ) -> None:
        self.env = environment
        self.scenario_file = scenario_file
        self.environment_controller = self._create_env_controller(env_config, agents)

    def _create_env_controller(self, env_config: Any, agents: dict[str, Any] | None) -> Controller:
        if self.env == "aws":
            raise NotInGarrison("the environment aws")
        if self.env != "sim":
            raise NotImplementedError(f"unsupported environment {self.env!r}: use 'sim'")
        check_scenario(self.scenario_file)
        from CybORG.Agents import B_lineAgent, RedMeanderAgent, SleepAgent  # they import this package themselves

        return Controller(chosen_rules(), agents, SleepAgent, {B_lineAgent: "bline", RedMeanderAgent: "meander"})

    def step(self, agent: str | None = None, action: Any = None, skip_valid_action_check: bool = False) -> Results:
        """Play a step for an agent, with its action; agents that are not given one are asked."""
        return self.environment_controller.step(agent, action, skip_valid_action_check)

    def start(self, steps: int, log_file: Any = None) -> bool:
        """Let the agents inside play a number of steps; the episode then needs a reset."""
        return self.environment_controller.start(steps, log_file)

    def reset(self, agent: str | None = None) -> Results:
        """Begin an episode; return the first observation and the action space of an agent, or the true state."""
        return self.environment_controller.reset(agent=agent)

    def get_true_state(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return the parts of the true state that `info` names by host."""
        return self.environment_controller.get_true_state(info).data

    def get_agent_state(self, agent_name: str) -> dict[str, Any]:
        """Return the present state of what an agent could see at the start; `True` sees everything."""
        return self.environment_controller.get_agent_state(agent_name).data

    def get_observation(self, agent: str) -> dict[str, Any]:
        """Return what an agent was told last."""
        return self.environment_controller.get_last_observation(agent).data

    def get_action_space(self, agent: str) -> dict[str, dict[Any, bool]]:
        """Return an agent's actions, and the values of their parameters that it knows or could know."""
        return self.environment_controller.get_action_space(agent)

    def get_observation_space(self, agent: str) -> Any:
        """Fail: only wrappers have observation spaces."""
        return self.environment_controller.get_observation_space(agent)

    def get_last_action(self, agent: str) -> Any:
        """Return what an agent did last, None before its first step."""
        return self.environment_controller.get_last_action(agent)

    def set_seed(self, seed: int) -> None:
        """Seed Python's global generator, from which every draw comes."""
        random.seed(seed)

    def get_ip_map(self) -> dict[str, Any]:
        """Return the address of every host in this episode."""
        return self.environment_controller.hostname_ip_map

    def get_rewards(self) -> dict[str, float]:
        """Return every agent's reward of the last step."""
        return self.environment_controller.reward

    def get_reward_breakdown(self, agent: str) -> dict[str, Any]:
        """Return each host's part of an agent's reward."""
        return self.environment_controller.get_reward_breakdown(agent)

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of this object, None if there is none of that name."""
        return getattr(self, attribute, None)

    def shutdown(self, **kwargs: Any) -> None:
        """Do nothing: there is nothing to shut down."""
        self.environment_controller.shutdown(**kwargs)

    def pause(self) -> None:
        """Do nothing, as in the original."""
        self.environment_controller.pause()

    def save(self, filepath: str) -> None:
        """Do nothing, as in the original."""
        self.environment_controller.save(filepath)

    def restore(self, filepath: str) -> None:
        """Do nothing, as in the original."""
        self.environment_controller.restore(filepath)

    @property
    def _fast_blue(self) -> Any:
        """What our own wrappers play Blue through without dicts; None if agents inside have to be asked."""
        return self.environment_controller.fast_blue
