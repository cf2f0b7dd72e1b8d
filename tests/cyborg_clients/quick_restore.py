"""The smallest agent for the challenge's own evaluation script: restores a host where it sees an intruder."""

from typing import Any

FIRST_RESTORE = 132
HOSTS = 13


class QuickRestore:
    """Restores the first host whose four bits show that it is compromised, else lets Blue monitor."""

    def get_action(self, observation: Any, action_space: Any) -> int:
        """Choose by the 52 bits: two for the activity on a host, two for how deep Red is in."""
        for host in range(HOSTS):
            if observation[4 * host + 1] or observation[4 * host + 2] or observation[4 * host + 3]:
                return FIRST_RESTORE + host
        return 1

    def end_episode(self) -> None:
        """Remember nothing."""
