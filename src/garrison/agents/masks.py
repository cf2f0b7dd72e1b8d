"""Which of its actions an agent knows to be refused, from its own actions alone.

A decoy is refused where its port is taken or the system is the wrong one. The images are public, and the only things
that change a host's ports are Blue's own decoys and Restores, so no look at the true state is needed.
"""

import numpy as np

from garrison.agents.protocol import Choices, Flags
from garrison.cage2.names import DECOY_BLOCK, FIRST_BLOCK, NUM_ACTIONS, NUM_DECOYS, NUM_HOSTS, RESTORE_BLOCK
from garrison.cage2.scenario import load_scenario

MONITOR = 1
FIRST_DECOY = FIRST_BLOCK + DECOY_BLOCK * NUM_HOSTS
FIRST_RESTORE = FIRST_BLOCK + RESTORE_BLOCK * NUM_HOSTS


class ActionMasks:
    """The masks of `VectorEnv.action_masks()`, followed from outside."""

    def __init__(self, num_envs: int) -> None:
        scenario = load_scenario(None, "head", "challenge")[0]
        only_on = scenario["only_on"][:, None]
        self._fits = (only_on < 0) | (only_on == scenario["windows"][None, :])  # (decoys, hosts)
        self._image = scenario["image_ports"].astype(np.int64)
        self._opens = scenario["opens"].astype(np.int64)
        self._checks = scenario["checks"].astype(np.int64)
        self._ports = np.tile(self._image, (num_envs, 1))

    def reset(self, mask: Flags) -> None:
        """Begin new episodes where `mask` is set."""
        self._ports[mask] = self._image

    def allowed(self) -> Flags:
        """Return (n, 145): False where an action is known to have no effect."""
        masks = np.ones((len(self._ports), NUM_ACTIONS), np.bool_)
        masks[:, MONITOR] = False
        free = (self._ports[:, None, :] & self._checks[None, :, None]) == 0  # (n, decoys, hosts)
        masks[:, FIRST_DECOY:FIRST_RESTORE] = (free & self._fits).reshape(len(masks), NUM_DECOYS * NUM_HOSTS)
        return masks

    def follow(self, actions: Choices) -> None:
        """Take note of what was done."""
        rows = np.flatnonzero(actions >= FIRST_RESTORE)
        hosts = actions[rows] - FIRST_RESTORE
        self._ports[rows, hosts] = self._image[hosts]
        rows = np.flatnonzero((actions >= FIRST_DECOY) & (actions < FIRST_RESTORE))
        decoys, hosts = np.divmod(actions[rows] - FIRST_DECOY, NUM_HOSTS)
        accepted = self._fits[decoys, hosts] & ((self._ports[rows, hosts] & self._checks[decoys]) == 0)
        self._ports[rows, hosts] |= np.where(accepted, self._opens[decoys], 0)
