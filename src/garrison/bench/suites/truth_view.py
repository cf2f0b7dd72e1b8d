"""CAGE-2 with the cards on the table: behind what a defender may see stands the true state, and what Red plans."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv as GymnasiumVectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from garrison.cage2 import VectorEnv
from garrison.cage2.names import NUM_EXPLOITS, NUM_HOSTS, NUM_SUBNETS, Access, Host, Red, RedKind, Success
from garrison.cage2.red import LAST_STATE

Bits = NDArray[np.int8]
_FIRST_ENTRY, _ENTRIES = Host.USER1, 4


def true_bits(states: NDArray[np.void]) -> Bits:
    """Return what decides the game and is hidden from Blue, as zeros and ones: (n, bits).

    Args:
        states: records of `garrison.cage2.layout.STATE`, as `VectorEnv.get_state` returns them.
    """
    parts = (
        # --- Red's hold on each host
        states["access"] == Access.USER,
        states["access"] == Access.PRIVILEGED,
        states["access_oldest"] == Access.PRIVILEGED,
        states["sessions"] > 1,
        states["removable"] > 0,
        states["hidden"] > 0,
        states["malware"] > 0,
        states["patched"] > 0,
        # --- what Red knows
        states["known_address"] > 0,
        states["known_host"] > 0,
        states["known_subnet"] > 0,
        states["red_ports"] >= 0,
        # --- who Red is, and where in its plan
        _one_of(states["red"], Red.MEANDER + 1),
        _one_of(states["bline_state"], LAST_STATE + 1),
        _one_of(states["bline_user"] - _FIRST_ENTRY, _ENTRIES),
        _flags(states["swept"], NUM_SUBNETS),
        *(_flags(states[name], NUM_HOSTS) for name in ("scanned", "exploited", "escalated", "mapped")),
        *(_one_of(states[name], NUM_HOSTS) for name in ("last_exploited", "last_owned")),
        # --- its last action
        _one_of(states["red_success"], Success.YES + 1),
        _one_of(states["red_kind"], len(RedKind)),
        _one_of(states["red_target"], NUM_HOSTS),
        _one_of(states["red_exploit"], NUM_EXPLOITS),
        # --- the OTService
        *(states[name][:, None] > 0 for name in ("ot_running", "ot_stoppable", "ot_known")),
    )
    return np.concatenate(parts, axis=1).astype(np.int8)


def _one_of(values: NDArray[Any], count: int) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = values[:, None] == np.arange(count)
    return flags


def _flags(masks: NDArray[Any], count: int) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = (masks[:, None].astype(np.int64) >> np.arange(count)) & 1 != 0
    return flags


class TruthView(GymnasiumVectorEnv[Any, Any, Any]):
    """A batch that shows the observation `memory` and behind it `true_bits`; actions are the compact ones.

    Args:
        num_envs: how many environments.
        settings: what `garrison.cage2.VectorEnv` also takes, such as `red`, `rules` and `length`.
    """

    def __init__(self, num_envs: int, **settings: Any) -> None:
        self.envs = VectorEnv(num_envs, observation="memory", actions="compact", copy=False, **settings)
        self.num_envs, self.metadata = num_envs, self.envs.metadata
        width = self.envs.observations.shape[1] + true_bits(self.envs.get_state()).shape[1]
        self.single_observation_space = Box(0, 1, (width,), np.int8)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space, self.action_space = self.envs.single_action_space, self.envs.action_space

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Bits, dict[str, Any]]:
        """Begin new episodes, as `VectorEnv.reset` does."""
        observations, infos = self.envs.reset(seed=seed, options=options)
        return self._shown(observations), infos

    def step(self, actions: Any) -> tuple[Bits, Any, Any, Any, dict[str, Any]]:
        """Step every environment, as `VectorEnv.step` does."""
        observations, rewards, terminations, truncations, infos = self.envs.step(actions)
        return self._shown(observations), rewards, terminations, truncations, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return what Blue knows that it may do, as `VectorEnv.action_masks` does."""
        return self.envs.action_masks()

    def close_extras(self, **kwargs: Any) -> None:
        """Close the batch."""
        self.envs.close()

    def _shown(self, observations: Bits) -> Bits:
        return np.concatenate([observations, true_bits(self.envs.get_state())], axis=1)
