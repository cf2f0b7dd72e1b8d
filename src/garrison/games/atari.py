"""Atari games with the preprocessing of the literature, as the Arcade Learning Environment computes it.

Every fourth frame is shown, as the maximum of it and the one before, grey and shrunk to 84 x 84; an observation is the
last four of these. A game begins with up to 30 frames in which nothing is done, and with its button pressed where that
starts it. `AtariBatch` steps all games by one call, on threads of ALE's own. `AtariGame` is one game, and gives the
same bytes as a game of the batch that has its seed.

What may be set is what `ale_py.vector_env.AtariVectorEnv` takes, which is behind both. Two settings change what is
learned from, so they are off unless they are asked for: `reward_clipping` (rewards become -1, 0 or 1) and
`episodic_life` (a lost life ends an episode).
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.contract import resets
from garrison.contract.misuse import Closed
from garrison.errors import UserError
from garrison.system import cores

HIGHEST_SEED = 2**31 - 1
AS_IT_IS = -1
"""The seed that leaves a game's random numbers as they are."""

Frames = NDArray[np.uint8]


class AtariBatch(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A batch of one Atari game.

    Args:
        game: the name of its ROM, such as `pong` or `ms_pacman`.
        num_envs: how many games.
        threads: over how many threads a step is split; 0 means one for each core.
        autoreset_mode: SAME_STEP or NEXT_STEP.
        reward_clipping: whether rewards become -1, 0 or 1.
        settings: anything else that `AtariVectorEnv` takes.
    """

    def __init__(
        self,
        game: str,
        num_envs: int,
        *,
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        reward_clipping: bool = False,
        **settings: Any,
    ) -> None:
        self.num_envs = resets.whole("num_envs", num_envs, 1, 2**20)
        threads = resets.whole("threads", threads, 0, 1024) or cores()
        mode = resets.autoreset_mode(autoreset_mode)
        if mode is AutoresetMode.DISABLED:
            raise UserError("a batch of Atari games resets itself: use autoreset_mode SAME_STEP or NEXT_STEP.")
        self.metadata = {"autoreset_mode": mode}
        self._games: Any = AtariVectorEnv(
            game,
            num_envs,
            num_threads=min(threads, num_envs),
            autoreset_mode=mode,
            reward_clipping=reward_clipping,
            **settings,
        )
        self.single_observation_space = self._games.single_observation_space
        self.single_action_space = self._games.single_action_space
        self.observation_space = self._games.observation_space
        self.action_space = self._games.action_space

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frames, dict[str, Any]]:
        """Begin new games: s seeds game i with s+i, a list seeds each, None leaves random numbers as they are."""
        games = self._open_games()
        seeds = resets.spread_seed(seed, self.num_envs, HIGHEST_SEED)
        chosen = np.flatnonzero(resets.reset_mask(options, self.num_envs))
        given = np.array([AS_IT_IS if seeds[i] is None else seeds[i] for i in chosen])
        shown: tuple[Frames, dict[str, Any]] = games.reset(seed=given, options=options)
        return shown

    def step(self, actions: Any) -> Any:
        """Step every game: observations, rewards, terminations, truncations, infos."""
        return self._open_games().step(np.asarray(actions))

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games and stop their threads."""
        self._games = None

    def _open_games(self) -> Any:
        if self._games is None:
            raise Closed("these games were closed; make new ones.")
        return self._games


class AtariGame(gymnasium.Env[Frames, np.int64]):
    """One Atari game; `settings` are those of `AtariBatch`."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012 - as in Gymnasium

    def __init__(self, game: str, render_mode: str | None = None, **settings: Any) -> None:
        # NEXT_STEP, because then a step that ends a game does nothing else.
        self._batch = AtariBatch(game, 1, threads=1, autoreset_mode=AutoresetMode.NEXT_STEP, **settings)
        self.render_mode = render_mode
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._shown: Frames = np.zeros(self.observation_space.shape or (), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frames, dict[str, Any]]:
        """Begin a game."""
        super().reset(seed=seed)
        frames, infos = self._batch.reset(seed=seed)
        self._shown = frames[0]
        return frames[0], _told(infos)

    def step(self, action: Any) -> tuple[Frames, float, bool, bool, dict[str, Any]]:
        """Play one action for four frames."""
        frames, rewards, terminations, truncations, infos = self._batch.step(np.reshape(action, 1))
        self._shown = frames[0]
        return frames[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), _told(infos)

    def render(self) -> Frames | None:
        """Return the newest frame as the policy sees it, in three equal colours."""
        if self.render_mode is None:
            return None
        frame = self._shown[-1]
        return frame if frame.ndim == 3 else np.repeat(frame[..., None], 3, axis=-1)

    def close(self) -> None:
        """Free the game."""
        self._batch.close()


def _told(infos: dict[str, Any]) -> dict[str, Any]:
    """Return what the batch tells about its only game."""
    return {name: int(infos[name][0]) for name in ("lives", "frame_number", "episode_frame_number")}
