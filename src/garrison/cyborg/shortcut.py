"""ChallengeWrapper's own short way: numbers in and the compiled bits out, past the wrappers that decode dicts."""

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.names import HOSTS, NUM_ACTIONS

NUMBERS = range(NUM_ACTIONS)

Played = tuple[NDArray[np.int64], float, bool, dict[str, Any]]


class Shortcut:
    """Plays Blue for a wrapper until somebody looks below it; then the wrappers below learn what they missed.

    What Blue's table knows is a function of the bits that were shown last. So if somebody else has played the game
    meanwhile and the bits are others, the tables continue from what they would have known.

    Args:
        door: the core's way for Blue without dicts.
        gym: the wrapper of Gym's interface, around numbered actions, around Blue's table, around the core.
    """

    def __init__(self, door: Any, gym: Any) -> None:
        self._door = door
        self._gym = gym
        self._table = gym.env.env
        self._actions = list(gym.env.possible_actions)
        self._shown: bytes | None = None
        """The bits that were shown last; None while the tables know everything, and the short way is closed."""

    def reset(self) -> NDArray[np.int64]:
        """Begin an episode and return its first observation."""
        return self._show(self._door.reset())

    def step(self, action: Any) -> Played | None:
        """Play a step and return the old gym's four values; None if the long way is to be taken until a reset."""
        if self._shown is None:
            return None
        if action is None or self._door.bits.tobytes() != self._shown:
            self.settle()
            return None
        number = NUMBERS[index(action)]
        self._gym.action = action
        bits, reward, done = self._door.step(number)
        observation = self._show(bits)
        return observation.copy(), reward, done, self._info(observation, reward, done, number)

    def settle(self) -> None:
        """Let the tables below know what they would know if every step had gone through them."""
        if self._shown is None:
            return
        bits, self._shown = np.frombuffer(self._shown, np.int8).reshape(-1, 4), None
        table, core = self._table, self._table.env.env
        addresses = core.get_ip_map()
        told = core.get_agent_state("Blue")
        del told["success"]
        # Nothing in a step equals an entry of the first observation, so of that only the names matter.
        table._process_initial_obs({host: _named(entry, addresses[host]) for host, entry in told.items()})
        table.info = {}
        for host, four_bits in zip(HOSTS, bits.tolist(), strict=True):
            *named, _, _ = table.blue_info[host]
            activity, compromised = table.decode(four_bits)
            table.blue_info[host] = [*named, "None", compromised]
            table.info[host] = [*named, activity, compromised]
        table.env.scanned_ips = {str(addresses[host]) for host in self._door.scanned_hosts}
        table.env.step_counter = self._door.steps

    def _show(self, bits: NDArray[np.int8]) -> NDArray[np.int64]:
        self._shown = bits.tobytes()
        return bits.astype(np.int64)

    def _info(self, observation: NDArray[np.int64], reward: float, done: bool, number: int) -> dict[str, Any]:
        """Return the fields of a step's Results, as the long way does."""
        return {
            "observation": observation,
            "next_observation": None,
            "done": done,
            "reward": reward,
            "action": self._actions[number],
            "info": None,
            "parameter_mask": None,
            "action_space": NUM_ACTIONS,
            "error": None,
            "error_msg": None,
            "action_name": None,
            "selection_masks": None,
        }


def _named(host: dict[str, Any], address: Any) -> dict[str, Any]:
    """Return where a host is and what it is called, as an observation shows it: without its loopback."""
    interfaces = [interface for interface in host["Interface"] if interface["IP Address"] == address]
    return {"Interface": interfaces, "System info": host["System info"]}
