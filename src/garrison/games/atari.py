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
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.contract import resets
from garrison.contract.misuse import Closed
from garrison.errors import UserError, choose
from garrison.system import cores

HIGHEST_SEED = 2**31 - 1
AS_IT_IS = -1
"""The seed that leaves a game's random numbers as they are."""

FRAMES_PER_SECOND = 60
SCREEN: dict[str, Any] = {"img_height": 210, "img_width": 160, "grayscale": False, "stack_num": 1}
"""The preprocessing that leaves a screen as it is."""

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
    """One Atari game; `settings` are those of `AtariBatch`.

    With `render_mode="rgb_array"` a second game is played beside it, with the same seeds and actions. It shows the
    whole screen in colour, where the first shows what the policy sees.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - as in Gymnasium

    def __init__(self, game: str, render_mode: str | None = None, **settings: Any) -> None:
        self.metadata = {**type(self).metadata, "render_fps": FRAMES_PER_SECOND // settings.get("frameskip", 4)}
        # NEXT_STEP, because then a step that ends a game does nothing else.
        make = partial(AtariBatch, game, 1, threads=1, autoreset_mode=AutoresetMode.NEXT_STEP)
        self._batch = make(**settings)
        self.render_mode = None if render_mode is None else choose("render_mode", render_mode, ["rgb_array"])
        self._screen = make(**settings | SCREEN) if self.render_mode else None
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._picture: Frames | None = None
        self._is_seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frames, dict[str, Any]]:
        """Begin a game."""
        super().reset(seed=seed)
        if self._screen is not None:
            if seed is None and not self._is_seeded:  # else the two games would draw seeds of their own
                seed = int(self.np_random.integers(HIGHEST_SEED))
            self._picture = self._screen.reset(seed=seed)[0][0, -1]
        self._is_seeded = True
        frames, infos = self._batch.reset(seed=seed)
        return frames[0], _told(infos)

    def step(self, action: Any) -> tuple[Frames, float, bool, bool, dict[str, Any]]:
        """Play one action for four frames."""
        actions = np.asarray(action)[None]
        if self._screen is not None:
            self._picture = self._screen.step(actions)[0][0, -1]
        frames, rewards, terminations, truncations, infos = self._batch.step(actions)
        return frames[0], float(rewards[0]), bool(terminations[0]), bool(truncations[0]), _told(infos)

    def render(self) -> Frames | None:
        """Return the screen in colour; None without a render mode."""
        return self._picture

    def close(self) -> None:
        """Free the game."""
        self._batch.close()
        if self._screen is not None:
            self._screen.close()


def _told(infos: dict[str, Any]) -> dict[str, Any]:
    """Return what the batch tells about its only game."""
    return {name: int(infos[name][0]) for name in ("lives", "frame_number", "episode_frame_number")}
