"""What Red knows, as a table: addresses with their names, which were scanned, and what is held there."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from CybORG.Agents.Wrappers.TrueTableWrapper import TrueTableWrapper
from garrison.cyborg.pretty_tables import new_table
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

SCANNED, ACCESS = 3, 4
"""Columns of a row: subnet, address, host name, scanned, access."""
ACCESS_BITS = {"None": (0, 0), "User": (1, 0), "Privileged": (0, 1)}


class RedTableWrapper(BaseWrapper):
    """Collects what Red's observations tell; `output_mode` is `table`, `vector` (40 numbers) or `raw`."""

    def __init__(self, env: Any = None, agent: Any = None, output_mode: str = "table") -> None:
        super().__init__(env, agent)
        self.env = TrueTableWrapper(env=env, agent=agent)
        self.agent = agent
        self.output_mode = output_mode
        self._forget()

    def _forget(self) -> None:
        self.red_info: dict[str, list[Any]] = {}
        self.known_subnets: set[Any] = set()
        self.step_counter = -1
        self.id_tracker = -1
        self.success: Any = None

    def reset(self, agent: Any = None) -> Any:
        """Begin an episode."""
        self._forget()
        result = self.env.reset(agent)
        if agent == "Red":
            result.observation = self.observation_change(result.observation)
        return result

    def get_table(self, output_mode: str = "red_table") -> Any:
        """Return Red's table, or the true one."""
        if output_mode == "red_table":
            return self._create_red_table()
        return self.env.get_table() if output_mode == "true_table" else None

    def observation_change(self, observation: Any) -> Any:
        """Take in an observation; return it in the chosen form."""
        self.success = observation["success"]
        self.step_counter += 1
        if self.step_counter <= 0:
            self._process_initial_obs(observation)
        elif self.success:
            self._update_red_info(observation)

        if self.output_mode == "table":
            return self._create_red_table()
        if self.output_mode == "vector":
            return self._create_vector()
        if self.output_mode == "raw":
            return observation
        raise NotImplementedError(f"RedTableWrapper has no output_mode {self.output_mode!r}")

    def _process_initial_obs(self, obs: Any) -> None:
        for hostid, host in obs.items():
            if hostid == "success":
                continue
            interface = host["Interface"][0]
            self.known_subnets.add(interface["Subnet"])
            ip = str(interface["IP Address"])
            hostname = host["System info"]["Hostname"]
            self.red_info[ip] = [str(interface["Subnet"]), ip, hostname, False, "Privileged"]

    def _update_red_info(self, obs: Any) -> None:
        action = self.get_last_action(agent="Red")
        name = type(action).__name__
        if name == "DiscoverRemoteSystems":
            self._add_ips(obs)
        elif name == "DiscoverNetworkServices":
            # The entry is taken out of the observation, as in the original: in mode `raw` the caller does not get it.
            _, host = obs.popitem()
            self.red_info[str(host["Interface"][0]["IP Address"])][SCANNED] = True
        elif name == "ExploitRemoteService":
            self._process_exploit(obs)
        elif name == "PrivilegeEscalate":
            self._process_priv_esc(obs, action.hostname)

    def _generate_name(self, datatype: str) -> str:
        self.id_tracker += 1
        return f"UNKNOWN_{datatype}: {self.id_tracker}"

    def _add_ips(self, obs: Any) -> None:
        for hostid, host in obs.items():
            if hostid == "success":
                continue
            for interface in host["Interface"]:
                ip = interface["IP Address"]
                self.known_subnets.add(interface["Subnet"])
                row = self.red_info.get(str(ip))
                if row is None:
                    subnet = self._get_subnet(ip)
                    self.red_info[str(ip)] = [subnet, str(ip), self._generate_name("HOST"), False, "None"]
                elif row[0].startswith("UNKNOWN_"):
                    row[0] = self._get_subnet(ip)

    def _get_subnet(self, ip: Any) -> str:
        for subnet in self.known_subnets:
            if ip in subnet:
                return str(subnet)
        return self._generate_name("SUBNET")

    def _process_exploit(self, obs: Any) -> None:
        for hostid, host in obs.items():
            if hostid == "success" or "Sessions" not in host:
                continue
            row = self.red_info[str(host["Interface"][0]["IP Address"])]
            row[2] = host["System info"]["Hostname"]
            row[ACCESS] = "Privileged" if "Username" in host["Sessions"][0] else "User"

    def _process_priv_esc(self, obs: Any, hostname: str) -> None:
        if obs["success"] == False:  # noqa: E712, three values: an unknown success is no failure
            next(row for row in self.red_info.values() if row[2] == hostname)[ACCESS] = "None"
            return
        for hostid, host in obs.items():
            if hostid == "success":
                continue
            ip = host["Interface"][0]["IP Address"]
            if "Sessions" in host:
                self.red_info[str(ip)][ACCESS] = "Privileged"
                continue
            subnet = self._get_subnet(ip)
            name = self._generate_name("HOST")
            if str(ip) in self.red_info:
                self.red_info[str(ip)][0] = subnet
                self.red_info[str(ip)][2] = name
            else:
                self.red_info[str(ip)] = [subnet, str(ip), name, False, "None"]

    def _create_red_table(self) -> Any:
        columns = ["Subnet", "IP Address", "Hostname", "Scanned", "Access"]
        table = new_table(columns, self.red_info.values(), "IP Address")
        table.success = self.success
        return table

    def _create_vector(self, num_hosts: int = 13) -> NDArray[np.int64]:
        """Return the last success, then three numbers for each address in the order of discovery, then -1."""
        vector = [self.success.value if self.success.value < 2 else -1]
        for row in self.red_info.values():
            vector += [int(row[SCANNED]), *ACCESS_BITS[row[ACCESS]]]
        vector += [-1] * 3 * (num_hosts - len(self.red_info))
        return np.array(vector)

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)

    def get_observation(self, agent: str) -> Any:
        """Return what Red knows in the chosen form, or another side's last observation as a dict."""
        if agent != "Red" or self.output_mode == "raw":
            return self.get_attr("get_observation")(agent)
        if self.output_mode == "table":
            return self.get_table()
        if self.output_mode == "vector":
            return self._create_vector()
        raise NotImplementedError(f"RedTableWrapper has no output_mode {self.output_mode!r}")

    def get_agent_state(self, agent: str) -> Any:
        """Return what a side can see now; `True` sees everything."""
        return self.get_attr("get_agent_state")(agent)

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
