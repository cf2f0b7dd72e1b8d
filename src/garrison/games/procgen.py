"""Procgen: sixteen games whose levels are generated, as Gymnasium environments.

`ProcgenVectorEnv` keeps Procgen's own stepping: one call moves all games, on threads of its own. `ProcgenEnv` is one
game, and gives the same bytes as a game of the batch that has its seed.

Two things are Procgen's own and cannot be changed from here. A game that ends begins its next level in the same step,
and its last picture is never drawn: `final_obs` is the picture before it. And a game that runs out of time ends like
one that is lost, so both are terminations.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from garrison.contract import resets
from garrison.contract.misuse import Closed, NotReset
from garrison.errors import UserError, choose
from garrison.games import procgen_states
from garrison.games.libenv import LibenvBatch
from garrison.registration import PROCGEN_GAMES
from garrison.system import cores, require

NUM_ACTIONS = 15
NEW_LEVEL = -1
"""The action that ends a game's episode and begins its next level."""
HIGHEST_SEED = 2**31 - 1
MODES = {"easy": 0, "hard": 1, "extreme": 2, "memory": 10}
SOME_GAMES = {
    "extreme": ("chaser", "dodgeball", "leaper", "starpilot"),
    "memory": ("caveflyer", "dodgeball", "heist", "jumper", "maze", "miner"),
}
"""The games that have a mode, where not all do."""

Pictures = NDArray[np.uint8]


class ProcgenVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A batch of one of Procgen's games.

    Every game depends only on its seed and its actions: never on the size of the batch, its place in it, or the number
    of threads.

    Args:
        num_envs: how many games.
        env_name: which game, such as `coinrun`.
        distribution_mode: how hard its levels are: easy or hard; some games have extreme or memory as well.
        num_levels: how many different levels there are; 0 means any number. A seed chooses among them.
        start_level: the number of the first of them: train on 0 to 199 and test on the rest with `num_levels=0`.
        use_sequential_levels: whether a solved level is followed by the next one in the same episode.
        center_agent: whether the picture moves with the player.
        use_backgrounds: whether there is a picture behind the level.
        use_monochrome_assets: whether things are rectangles of one colour.
        restrict_themes: whether all levels look alike.
        use_generated_assets: must be False: games whose pictures are generated have no state that could be set, so no
            seed each.
        paint_vel_info: whether the player's velocity is painted into the picture.
        threads: over how many threads a step is split; 0 means one for each core.
        autoreset_mode: SAME_STEP, which is what Procgen does.
        copy: return fresh arrays; False returns the buffers, which the next step overwrites.
        render_mode: None, or `rgb_array`: `render` returns pictures of 512 x 512.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012 - as in Gymnasium

    _games: LibenvBatch | None = None  # Gymnasium 1.2 also closes what could not be made
    _spare: LibenvBatch | None = None

    def __init__(
        self,
        num_envs: int = 1,
        env_name: str = "coinrun",
        *,
        distribution_mode: str = "hard",
        num_levels: int = 0,
        start_level: int = 0,
        use_sequential_levels: bool = False,
        center_agent: bool = True,
        use_backgrounds: bool = True,
        use_monochrome_assets: bool = False,
        restrict_themes: bool = False,
        use_generated_assets: bool = False,
        paint_vel_info: bool = False,
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        self.num_envs = resets.whole("num_envs", num_envs, 1, 2**20)
        threads = resets.whole("threads", threads, 0, 1024) or cores()
        if resets.autoreset_mode(autoreset_mode) is not AutoresetMode.SAME_STEP:
            raise UserError(
                "Procgen's batch begins the next level in the step that ends one: use autoreset_mode SAME_STEP, or "
                "another backend than native."
            )
        if use_generated_assets:
            raise UserError(
                "games of Procgen with use_generated_assets cannot be seeded one by one; leave that setting out."
            )
        self.metadata = {**type(self).metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.render_mode = None if render_mode is None else choose("render_mode", render_mode, ["rgb_array"])
        self.copy = copy
        folder = package_folder()
        self._library = folder / "data" / "prebuilt" / "libenv.so"
        self._options: dict[str, str | int | bool] = {
            "env_name": choose("env_name", env_name, PROCGEN_GAMES),
            "distribution_mode": MODES[checked_mode(distribution_mode, env_name)],
            "num_levels": resets.whole("num_levels", num_levels, 0, HIGHEST_SEED),
            "start_level": resets.whole("start_level", start_level, 0, HIGHEST_SEED - num_levels),
            "use_sequential_levels": bool(use_sequential_levels),
            "center_agent": bool(center_agent),
            "use_backgrounds": bool(use_backgrounds),
            "use_monochrome_assets": bool(use_monochrome_assets),
            "restrict_themes": bool(restrict_themes),
            "paint_vel_info": bool(paint_vel_info),
            "num_actions": NUM_ACTIONS,
            "debug_mode": 0,
            "render_human": self.render_mode is not None,
            "resource_root": f"{folder / 'data' / 'assets'}/",
        }
        seed = int(np.random.SeedSequence().generate_state(1)[0]) & HIGHEST_SEED
        # Without threads of its own, the caller's steps the games.
        self._games = self._make(self.num_envs, seed, threads=0 if min(threads, self.num_envs) == 1 else threads)

        self.single_observation_space = Box(0, 255, (64, 64, 3), np.uint8)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._before = np.zeros_like(self._shown)
        self._rewards = np.zeros(self.num_envs)
        self._terminations = np.zeros(self.num_envs, np.bool_)
        self._truncations = np.zeros(self.num_envs, np.bool_)
        self._is_reset = False

    # --- Gymnasium's interface

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Pictures, dict[str, Any]]:
        """Begin new levels.

        Args:
            seed: s seeds game i with s+i; a list seeds each game, None lets it go on to the next of its levels.
            options: `{"reset_mask": (n,) bool array}` resets only these games.
        """
        games = self._open_games()
        seeds = resets.spread_seed(seed, self.num_envs, HIGHEST_SEED)
        mask = resets.reset_mask(options, self.num_envs)
        if not self._is_reset and not mask.all():
            raise NotReset("the first reset must reset all environments: call reset() without a reset_mask.")
        for i in np.flatnonzero(mask).tolist():
            if seeds[i] is not None:
                games.set_state(i, self._seeded(seeds[i]))
            elif self._is_reset:  # else it has just been made, and shows a level that nobody has seen
                games.set_state(i, self._renewed(games.get_state(i)))
        games.observe()
        self._is_reset = True
        return self._out(self._shown), self._level_infos(mask)

    def step(self, actions: Any) -> tuple[Pictures, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Step every game: observations, rewards, terminations, truncations, infos."""
        games = self._open_games()
        if not self._is_reset:
            raise NotReset("call reset() before the first step().")
        games.actions["action"][:] = checked_actions(actions, self.num_envs)
        self._before[:] = self._shown
        games.step()
        self._rewards[:] = games.rewards
        self._terminations[:] = games.starts
        return (
            self._out(self._shown),
            self._out(self._rewards),
            self._out(self._terminations),
            self._out(self._truncations),
            self._end_infos() if self._terminations.any() else {},
        )

    def render(self) -> tuple[Pictures, ...] | None:
        """Return a large picture of every game."""
        if self.render_mode is None:
            return None
        return tuple(self._open_games().infos["rgb"].copy())

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games and stop their threads."""
        for games in (self._games, self._spare):
            if games is not None:
                games.close()
        self._games = self._spare = None

    # --- more than Gymnasium asks for

    def get_state(self) -> dict[str, Any]:
        """Return everything that the games depend on."""
        games = self._open_games()
        return procgen_states.pack([games.get_state(i) for i in range(self.num_envs)])

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on exactly as the games whose state it is; they must have been the same game with the same settings."""
        games = self._open_games()
        for i, each in enumerate(procgen_states.unpack(state, self.num_envs, games.get_state(0))):
            games.set_state(i, each)
        games.observe()
        self._is_reset = True

    # --- inside

    @property
    def _shown(self) -> Pictures:
        pictures: Pictures = self._open_games().observations["rgb"]
        return pictures

    def _open_games(self) -> LibenvBatch:
        if self._games is None:
            raise Closed("these games were closed; make new ones.")
        return self._games

    def _make(self, num: int, seed: int, threads: int = 0) -> LibenvBatch:
        return LibenvBatch(self._library, num, {**self._options, "rand_seed": seed, "num_threads": threads})

    def _seeded(self, seed: int | None) -> bytes:
        """Return the state of a game that begins with this seed: Procgen seeds a whole batch, so it is made alone."""
        game = self._make(1, int(seed or 0))
        state = game.get_state(0)
        game.close()
        return state

    def _renewed(self, state: bytes) -> bytes:
        """Return the state of a game at its next level; in a game apart, because a step moves the whole batch."""
        if self._spare is None:
            self._spare = self._make(1, 0)
        self._spare.set_state(0, state)
        self._spare.actions["action"][:] = NEW_LEVEL
        self._spare.step()
        return self._spare.get_state(0)

    def _level_infos(self, mask: NDArray[np.bool_]) -> dict[str, Any]:
        seeds = np.where(mask, self._open_games().infos["level_seed"], 0).astype(np.int64)
        return {"level_seed": seeds, "_level_seed": mask.copy()}

    def _end_infos(self) -> dict[str, Any]:
        infos, mask = self._open_games().infos, self._terminations.copy()
        final = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(mask):
            final[i] = self._before[i].copy()
        told = {
            "level_seed": np.where(mask, infos["prev_level_seed"], 0).astype(np.int64),
            "_level_seed": mask,
            "level_complete": mask & (infos["prev_level_complete"] != 0),
            "_level_complete": mask,
        }
        ends = {"final_obs": final, "_final_obs": mask, "final_info": told, "_final_info": mask}
        return ends | self._level_infos(mask)

    def _out(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array


class ProcgenEnv(gymnasium.Env[Pictures, np.int64]):
    """One of Procgen's games; `settings` are those of `ProcgenVectorEnv`."""

    metadata: dict[str, Any] = ProcgenVectorEnv.metadata

    def __init__(self, env_name: str = "coinrun", render_mode: str | None = None, **settings: Any) -> None:
        self._batch = ProcgenVectorEnv(1, env_name, threads=1, render_mode=render_mode, **settings)
        self.render_mode = self._batch.render_mode
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._next: tuple[Pictures, dict[str, Any]] | None = None
        """The beginning of the next level, once the last one has ended."""
        self._picture: Pictures | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Pictures, Any]:
        """Begin a level: the first one of a seed, or the next one."""
        super().reset(seed=seed)
        begun, self._next = self._next, None
        if begun is not None and seed is None:
            self._paint()
            return begun
        pictures, infos = self._batch.reset(seed=seed)
        self._paint()
        return pictures[0], {"level_seed": int(infos["level_seed"][0])}

    def step(self, action: Any) -> tuple[Pictures, float, bool, bool, dict[str, Any]]:
        """Play one action."""
        pictures, rewards, terminations, _, infos = self._batch.step(np.reshape(action, 1))
        if not terminations[0]:
            self._paint()
            return pictures[0], float(rewards[0]), False, False, {}
        told = infos["final_info"]
        self._next = pictures[0], {"level_seed": int(infos["level_seed"][0])}
        info = {"level_seed": int(told["level_seed"][0]), "level_complete": bool(told["level_complete"][0])}
        return infos["final_obs"][0], float(rewards[0]), True, False, info

    def render(self) -> Pictures | None:
        """Return a large picture of the game: of a level that has ended the last one, as its observation is."""
        return self._picture

    def _paint(self) -> None:
        pictures = self._batch.render()
        self._picture = None if pictures is None else pictures[0]

    def close(self) -> None:
        """Free the game."""
        self._batch.close()


def package_folder() -> Path:
    """Return where Procgen is installed, without importing it: that would ask for gym, gym3 and NumPy 1."""
    require("procgen")
    spec = find_spec("procgen")
    assert spec is not None
    return Path(str(spec.origin)).parent


def checked_mode(mode: str, game: str) -> str:
    """Return the mode if the game has it; Procgen's library ends the process where it does not."""
    games = SOME_GAMES.get(choose("distribution_mode", mode, list(MODES)), PROCGEN_GAMES)
    if game not in games:
        raise UserError(f"{game} has no distribution_mode {mode!r}; {', '.join(games)} have it.")
    return mode


def checked_actions(actions: Any, num_envs: int) -> NDArray[Any]:
    """Return the actions, one for each game, checked before any of them moves."""
    array = np.asarray(actions)
    if array.shape != (num_envs,) or array.dtype.kind not in "iu":
        raise UserError(f"actions must be {num_envs} whole numbers; got {array.dtype} of shape {array.shape}.")
    if array.min() < 0 or array.max() >= NUM_ACTIONS:
        raise UserError(f"actions must lie in 0..{NUM_ACTIONS - 1}; got {array.min()} to {array.max()}.")
    return array
