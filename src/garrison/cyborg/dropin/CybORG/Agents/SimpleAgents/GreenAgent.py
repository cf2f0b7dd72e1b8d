"""The ordinary user of the network: in Scenario 2 it sleeps, and its own actions are not simulated here."""

from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from garrison.cyborg.refusal import NotInGarrison, refuses

__getattr__ = refuses(__name__)


class GreenAgent(BaseAgent):
    """Refused when it is made, so that scripts which only import it still run."""

    def __init__(self) -> None:
        raise NotInGarrison("CybORG.Agents.GreenAgent, whose port scans need Green's actions")

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Never called."""
        raise NotInGarrison("CybORG.Agents.GreenAgent")
