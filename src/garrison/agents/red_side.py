"""CAGE-2 as Red meets it: many environments in which a frozen defender plays Blue, behind Gymnasium's interface.

A step is the simulator's own: both sides choose by what they saw last, then Blue's action happens and then Red's.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from garrison.agents.defender_team import find_defenders
from garrison.agents.protocol import Bits, Flags
from garrison.cage2.infos import EPISODE
from garrison.cage2.names import DEFAULT_LENGTH, DEFAULT_RULES
from garrison.cage2.red_moves import NUM_RED_MOVES
from garrison.cage2.red_observation import NUM_RED_BITS
from garrison.cage2.red_puppet import RedPuppet
from garrison.cage2.rendering import RENDER_MODES
from garrison.cage2.truth import Truth
from garrison.cage2.vector_env import VectorEnv
from garrison.contract import resets
from garrison.contract.misuse import NotReset

DEFAULT_BLUE = "react-restore"
"""Who defends if nobody is named: of the scripted defenders, the one that scores best"""


class RedVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A batch of CAGE-2 environments for Red: `NUM_RED_BITS` bits in, one of `RED_MOVES` out.

    The game is zero-sum: a reward is Blue's with the other sign, Blue's costs included. An episode is truncated at its
    length and never terminates.

    Args:
        num_envs: how many environments.
        blue: who defends: an agent, or anything that `garrison.load_agent` takes; several share the environments, as in
            `react-restore,record` or `react-restore:0.3,record:0.7`.
        rules: `head` or `leaderboard`, see `garrison.cage2.scenario`.
        length: steps after which an episode is truncated.
        autoreset_mode: one of Gymnasium's three modes.
        render_mode: as of `garrison.cage2.VectorEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": [*RENDER_MODES], "render_fps": 4}  # noqa: RUF012 - as in Gymnasium

    final_observations: NDArray[np.int8]
    """With SAME_STEP: the last observation of each environment whose episode ended in the last step"""

    def __init__(
        self,
        num_envs: int = 1,
        blue: Any = DEFAULT_BLUE,
        rules: str = DEFAULT_RULES,
        length: int = DEFAULT_LENGTH,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        self._blue = find_defenders(blue)
        self.num_envs = num_envs = resets.whole("num_envs", num_envs, 1, 2**31 - 1)
        self.autoreset_mode = resets.autoreset_mode(autoreset_mode)
        self._puppet = RedPuppet(num_envs)
        self._resets_later = self.autoreset_mode == AutoresetMode.NEXT_STEP
        self._batch = VectorEnv(
            num_envs,
            red=self._puppet,
            rules=rules,
            length=length,
            encoder=self._blue.encoder,
            # With SAME_STEP it is reset from here: what Red saw last must be read before.
            autoreset_mode=AutoresetMode.NEXT_STEP if self._resets_later else AutoresetMode.DISABLED,
            copy=False,
            render_mode=render_mode,
        )
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = Box(0, 1, (NUM_RED_BITS,), np.int8)
        self.single_action_space = Discrete(NUM_RED_MOVES)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.final_observations = np.zeros((num_envs, NUM_RED_BITS), np.int8)
        self._has_begun = False
        self._over = np.zeros(num_envs, np.bool_)  # where an episode ended in the last step and was not reset yet

    @property
    def batch(self) -> VectorEnv:
        """The environments as Blue meets them: their true state and tables are there."""
        return self._batch

    @property
    def truth(self) -> Truth:
        """The true state, as read-only views that follow the batch."""
        return self._batch.truth

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Bits, dict[str, Any]]:
        """Begin new episodes; `seed` and `options` are those of `garrison.cage2.VectorEnv.reset`."""
        mask = resets.reset_mask(options, self.num_envs)
        self._batch.reset(seed=seed, options=options)
        if mask.all():
            self._blue.begin(self.num_envs, _one_seed(seed))
        else:
            self._blue.reset(mask)
        self._over &= ~mask
        self._has_begun = True
        return self.observations, {}

    def step(self, actions: Any) -> tuple[Bits, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """Let Blue choose, play one turn everywhere, and return what Red sees and gets."""
        self._puppet.tell(actions)
        if not self._has_begun:
            raise NotReset("call reset() before the first step().")
        if self._over.any() and not self._resets_later:
            raise NotReset("episodes have ended: call reset(options={'reset_mask': truncations}) before the next step.")
        _, rewards, terminations, truncations, infos = self._batch.step(self._blue.act(self._batch.observations))
        if self._resets_later and self._over.any():
            self._blue.reset(self._over)
        rewards, terminations, truncations = -rewards, terminations.copy(), truncations.copy()
        self._over = truncations.copy()
        if EPISODE in infos:
            infos[EPISODE]["r"] = -infos[EPISODE]["r"]
        if self.autoreset_mode == AutoresetMode.SAME_STEP and truncations.any():
            infos = self._begin_again(infos)
        return self.observations, rewards, terminations, truncations, infos

    def _begin_again(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Reset where episodes ended; return the infos with what belongs to the old episodes apart."""
        ended = self._over
        self.final_observations[ended] = self.observations[ended]
        self._batch.reset(options={"reset_mask": ended})
        self._blue.reset(ended)
        self._over = np.zeros(self.num_envs, np.bool_)
        final = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended):
            final[i] = self.final_observations[i].copy()
        return {"final_obs": final, "_final_obs": ended, "final_info": infos, "_final_info": ended}

    @property
    def observations(self) -> Bits:
        """What Red sees now, (n, `NUM_RED_BITS`), as a fresh array."""
        return self._batch.red_view.observations()

    def action_masks(self) -> Flags:
        """Return (n, `NUM_RED_MOVES`): False where Red knows that a move would fail."""
        return self._batch.red_view.action_masks()

    def render(self) -> Any:
        """Return Blue's tables and the true ones as text, or pictures, as the render mode says."""
        return self._batch.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        self._batch.close()


class RedEnv(gymnasium.Env[Bits, Any]):
    """CAGE Challenge 2 for Red: a batch of one `RedVectorEnv`, whose arguments it has.

    >>> import gymnasium
    >>> env = gymnasium.make("garrison/CAGE2Red-v0", blue="react-restore", length=30)
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(3)  # sweep the User subnet
    >>> reward
    0.0
    """

    metadata: dict[str, Any] = RedVectorEnv.metadata

    def __init__(
        self,
        blue: Any = DEFAULT_BLUE,
        rules: str = DEFAULT_RULES,
        length: int = DEFAULT_LENGTH,
        render_mode: str | None = None,
    ) -> None:
        self._batch = RedVectorEnv(1, blue, rules, length, AutoresetMode.DISABLED, render_mode)
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Bits, dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        observations, _ = self._batch.reset(seed=seed)
        return observations[0], {}

    def step(self, action: Any) -> tuple[Bits, float, bool, bool, dict[str, Any]]:
        """Play one turn."""
        observations, rewards, _, truncations, infos = self._batch.step(np.asarray(action)[None])
        info = {EPISODE: {"r": infos[EPISODE]["r"][0], "l": infos[EPISODE]["l"][0]}} if EPISODE in infos else {}
        return observations[0], float(rewards[0]), False, bool(truncations[0]), info

    def action_masks(self) -> Flags:
        """Return False for each move that Red knows to fail. The name is sb3-contrib's."""
        masks: Flags = self._batch.action_masks()[0]
        return masks

    def render(self) -> Any:
        """Return the tables as text, or a picture, as the render mode says."""
        shown = self._batch.render()
        return None if shown is None else shown[0]


def _one_seed(seed: Any) -> int:
    """Return what decides Blue's draws, from the seeds of a reset."""
    given = None if seed is None else [s or 0 for s in seed] if isinstance(seed, Sequence) else int(seed)
    return int(np.random.SeedSequence(given).generate_state(1)[0])
