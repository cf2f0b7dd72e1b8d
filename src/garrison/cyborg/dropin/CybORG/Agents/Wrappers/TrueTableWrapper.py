"""The true state as a table: what Red knows, has scanned and holds."""

from copy import deepcopy
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from garrison.cyborg.pretty_tables import new_table
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class TrueTableWrapper(BaseWrapper):
    """Remembers Red's scans; shows the table as the observation unless it is only an observer."""

    def __init__(self, env: Any = None, agent: Any = None, observer_mode: bool = True) -> None:
        super().__init__(env, agent)
        self.scanned_ips: set[str] = set()
        self.step_counter = -1
        self.observer_mode = observer_mode

    def reset(self, agent: Any = None) -> Any:
        """Begin an episode, in which nothing was scanned."""
        self.scanned_ips = set()
        self.step_counter = -1
        result = self.env.reset(agent)
        result.observation = self.observation_change(result.observation)
        return result

    def observation_change(self, observation: Any) -> Any:
        """Note what Red scanned; return the observation, or the true table."""
        self.step_counter += 1
        self._update_scanned()
        return observation if self.observer_mode else self._create_true_table()

    def get_table(self) -> Any:
        """Return the true table."""
        return self._create_true_table()

    def _update_scanned(self) -> None:
        if self.step_counter <= 0:
            return
        if type(self.get_last_action(agent="Red")).__name__ != "DiscoverNetworkServices":
            return
        seen = self.get_observation(agent="Red")
        if seen["success"]:
            self.scanned_ips.add(next(reversed(seen)))  # a scan's answer is its last entry

    def _create_true_table(self) -> Any:
        state = deepcopy(self.env.get_agent_state("True"))
        success = state.pop("success")
        rows = []
        for host in state.values():
            for interface in host["Interface"]:
                ip = interface["IP Address"]
                if str(ip) == "127.0.0.1" or "Subnet" not in interface:
                    continue
                known = self.get_action_space(agent="Red")["ip_address"][ip]
                scanned = str(ip) in self.scanned_ips
                access = self._determine_red_access(host["Sessions"])
                rows.append([interface["Subnet"], str(ip), host["System info"]["Hostname"], known, scanned, access])
        table = new_table(["Subnet", "IP Address", "Hostname", "Known", "Scanned", "Access"], rows, "Hostname")
        table.success = success
        return table

    def _determine_red_access(self, session_list: Any) -> str:
        """Return how Red's oldest session on a host is privileged, as the original does: newer ones do not count."""
        for session in session_list:
            if session["Agent"] == "Red":
                return "Privileged" if session["Username"] in ("root", "SYSTEM") else "User"
        return "None"

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)

    def get_observation(self, agent: str) -> Any:
        """Return a side's last observation as a dict."""
        return self.get_attr("get_observation")(agent)

    def get_agent_state(self, agent: str) -> Any:
        """Return the true table for `True`, else what a side can see now."""
        return self.get_table() if agent == "True" else self.get_attr("get_agent_state")(agent)

    def get_action_space(self, agent: str) -> Any:
        """Return a side's action space as a dict."""
        return self.get_attr("get_action_space")(agent)

    def get_last_action(self, agent: str) -> Any:
        """Return what a side did last."""
        return self.get_attr("get_last_action")(agent)

    def get_ip_map(self) -> Any:
        """Return the addresses of the hosts."""
        return self.get_attr("get_ip_map")()

    def get_rewards(self) -> Any:
        """Return the rewards of the last step."""
        return self.get_attr("get_rewards")()


def true_obs_to_table(true_obs: Any, env: Any) -> Any:
    """Return the true table of an environment; what was scanned before this call is not known."""
    print("The column Scanned does not know of earlier scans.")
    wrapper = TrueTableWrapper(env, observer_mode=False)
    wrapper.step_counter = 1
    return wrapper.observation_change(true_obs)
