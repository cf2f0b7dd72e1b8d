"""What Blue saw, decoded: for each host the activity of this step and whether it is believed compromised."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from CybORG.Agents.Wrappers.TrueTableWrapper import TrueTableWrapper
from garrison.cyborg.pretty_tables import new_table
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

ACTIVITY_BITS = {"None": (0, 0), "Scan": (1, 0), "Exploit": (1, 1)}
COMPROMISED_BITS = {"No": (0, 0), "Unknown": (1, 0), "User": (0, 1), "Privileged": (1, 1)}
SHELL_PORT = 4444
MALWARE_DENSITY = 0.9


class BlueTableWrapper(BaseWrapper):
    """Compares each observation with the first of the episode and interprets what is new.

    Args:
        env: an environment with dicts as observations.
        agent: an agent inside, if it is wrapped instead.
        output_mode: what an observation becomes: `table`, `vector` (52 bits), `anomaly` (what is new) or `raw`.
    """

    def __init__(self, env: Any = None, agent: Any = None, output_mode: str = "table") -> None:
        super().__init__(env, agent)
        self.env = TrueTableWrapper(env=env, agent=agent)
        self.agent = agent
        self.baseline: Any = None
        self.output_mode = output_mode
        self.blue_info: dict[str, list[str]] = {}

    def reset(self, agent: Any = "Blue") -> Any:
        """Begin an episode; its first observation is what later ones are compared with."""
        result = self.env.reset(agent)
        if agent == "Blue":
            self._process_initial_obs(result.observation)
            result.observation = self.observation_change(result.observation, baseline=True)
        return result

    def step(self, agent: Any = None, action: Any = None) -> Any:
        """Play a step; Blue's observation is changed, Red's is not."""
        result = self.env.step(agent, action)
        if agent == "Blue":
            result.observation = self.observation_change(result.observation)
        result.action_space = self.action_space_change(result.action_space)
        return result

    def get_table(self, output_mode: str = "blue_table") -> Any:
        """Return Blue's table, or the true one."""
        if output_mode == "blue_table":
            return self._create_blue_table(success=None)
        return self.env.get_table() if output_mode == "true_table" else None

    def observation_change(self, observation: Any, baseline: bool = False) -> Any:
        """Update what is known of every host; return the observation in the chosen form."""
        obs = deepcopy(observation)
        success = obs["success"]
        self._process_last_action()
        anomalies = obs if baseline else self._detect_anomalies(obs)
        obs.pop("success")
        info = self._process_anomalies(anomalies)
        if baseline:
            for host in info:
                info[host][-2:] = ["None", "No"]
                self.blue_info[host][-1] = "No"
        self.info = info

        if self.output_mode == "table":
            return self._create_blue_table(success)
        if self.output_mode == "anomaly":
            anomalies["success"] = success
            return anomalies
        if self.output_mode == "raw":
            return observation
        if self.output_mode == "vector":
            return self._create_vector(success)
        raise NotImplementedError(f"BlueTableWrapper has no output_mode {self.output_mode!r}")

    def _process_initial_obs(self, obs: Any) -> dict[str, list[str]]:
        self.baseline = {hostid: host for hostid, host in obs.items() if hostid != "success"}
        for host in self.baseline.values():
            interface = host["Interface"][0]
            hostname = host["System info"]["Hostname"]
            self.blue_info[hostname] = [
                str(interface["Subnet"]),
                str(interface["IP Address"]),
                hostname,
                "None",
                "No",
            ]
        return self.blue_info

    def _process_last_action(self) -> None:
        """Let a Restore clear its host, and a Remove make its host's state unknown."""
        action = self.get_last_action(agent="Blue")
        name = type(action).__name__
        if name not in ("Restore", "Remove"):
            return
        row = self.blue_info[action.get_params()["hostname"]]
        if name == "Restore":
            row[-1] = "No"
        elif row[-1] != "No":
            row[-1] = "Unknown"

    def _detect_anomalies(self, obs: Any) -> dict[str, Any]:
        """Return files and processes of an observation that the first one did not have, by host."""
        if self.baseline is None:
            raise TypeError("BlueTableWrapper has nothing to compare with: reset the environment before its first step")
        anomalies = {}
        for hostid, host in obs.items():
            if hostid == "success":
                continue
            usual = self.baseline[hostid]
            if host == usual:
                continue
            new = {}
            for kind in ("Files", "Processes"):
                known = usual.get(kind, [])
                if unknown := [entry for entry in host.get(kind, []) if entry not in known]:
                    new[kind] = unknown
            if new:
                anomalies[hostid] = new
        return anomalies

    def _process_anomalies(self, anomaly_dict: Any) -> dict[str, list[str]]:
        """Return the rows of this step; what they say about compromise is remembered."""
        info = {hostname: list(row) for hostname, row in self.blue_info.items()}
        for hostid, anomalies in anomaly_dict.items():
            assert anomalies
            if "Processes" in anomalies:
                activity = self._interpret_connections(anomalies["Processes"])
                info[hostid][-2] = activity
                if activity == "Exploit":
                    info[hostid][-1] = self.blue_info[hostid][-1] = "User"
            if any(file["Density"] >= MALWARE_DENSITY for file in anomalies.get("Files", [])):
                info[hostid][-1] = self.blue_info[hostid][-1] = "Privileged"
        return info

    def _interpret_connections(self, activity: list[Any]) -> str:
        """Return what new processes on a host mean."""
        connections = [process["Connections"][0] for process in activity if "Connections" in process]
        distinct = len({connection["local_port"] for connection in connections})
        is_shell = any(connection.get("remote_port") == SHELL_PORT for connection in connections)
        if len(activity) >= 3 and distinct >= 3:
            return "Scan"
        if is_shell or (len(activity) >= 3 and distinct == 1):
            return "Exploit"
        return "None" if "Service Name" in activity[0] else "Scan"

    def _create_blue_table(self, success: Any) -> Any:
        columns = ["Subnet", "IP Address", "Hostname", "Activity", "Compromised"]
        table = new_table(columns, self.info.values(), "Hostname")
        table.success = success
        return table

    def _create_vector(self, success: Any) -> NDArray[np.int64]:
        """Return four bits for each host: two for its activity, two for its state."""
        bits = [bit for row in self.info.values() for bit in (*ACTIVITY_BITS[row[3]], *COMPROMISED_BITS[row[4]])]
        return np.array(bits)

    @staticmethod
    def decode(bits: list[int]) -> tuple[str, str]:
        """Return the activity and the state that four bits of the vector mean."""
        activity = next(name for name, code in ACTIVITY_BITS.items() if code == tuple(bits[:2]))
        return activity, next(name for name, code in COMPROMISED_BITS.items() if code == tuple(bits[2:]))

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)

    def get_observation(self, agent: str) -> Any:
        """Return Blue's table in that mode, else a side's last observation as a dict."""
        if agent == "Blue" and self.output_mode == "table":
            return self.get_table()
        return self.get_attr("get_observation")(agent)

    def get_agent_state(self, agent: str) -> Any:
        """Return what a side can see now; `True` sees everything."""
        return self.get_attr("get_agent_state")(agent)

    def get_action_space(self, agent: str) -> Any:
        """Return a side's action space as a dict."""
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
