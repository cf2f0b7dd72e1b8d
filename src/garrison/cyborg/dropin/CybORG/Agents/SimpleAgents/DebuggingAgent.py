"""An attacker that takes the addresses of a list, in its order."""

from typing import Any

from CybORG.Agents.SimpleAgents.HeuristicRed import ESCALATED, HeuristicRed
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class DebuggingAgent(HeuristicRed):
    """Goes on to the next address of `ip_list` when one is escalated, and stays at the last."""

    def __init__(self, ip_list: list[Any], session: int = 0, priority: Any = None) -> None:
        super().__init__(session=session, priority=priority)
        self.ip_list = ip_list
        self.position = 0
        self.active_ip = self.ip_list[self.position]

    def _choose_ip(self) -> Any:
        if self.ip_status[self.active_ip] >= ESCALATED:
            self.position = min(self.position + 1, len(self.ip_list) - 1)
            self.active_ip = self.ip_list[self.position]
        return self.active_ip
