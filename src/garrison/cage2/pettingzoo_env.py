"""The environment behind `garrison.cage2.parallel_env`; importing it needs PettingZoo."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from garrison.cage2.names import (
    DEFAULT_ACTIONS,
    DEFAULT_ENCODER,
    DEFAULT_LENGTH,
    DEFAULT_OBSERVATION,
    DEFAULT_RULES,
)
from garrison.cage2.red_moves import NUM_RED_MOVES
from garrison.cage2.red_observation import NUM_RED_BITS
from garrison.cage2.red_puppet import RedPuppet
from garrison.cage2.rendering import RENDER_MODES
from garrison.cage2.vector_env import VectorEnv
from garrison.contract.misuse import NotReset
from garrison.errors import UserError, choose

BLUE, RED = "blue", "red"
Observation = NDArray[np.int8]
Steps = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class Cage2ParallelEnv(ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """CAGE Challenge 2 with the agents `blue` and `red`.

    Both choose by what they saw last; then Blue's action happens, and then Red's. Blue sees and does what it does in
    `garrison.cage2.Env`; Red sees the bits of `garrison.cage2.red_observation` and chooses from
    `garrison.cage2.red_moves.RED_MOVES`. Every info has `action_mask`: 0 where an action is known to have no effect.
    The game is zero-sum: Red's reward is Blue's with the other sign. Both agents are truncated after `max_cycles`
    steps; nothing terminates an episode before.

    Args:
        max_cycles: steps of an episode.
        rules: `head` or `leaderboard`.
        encoder: which 52 bits Blue sees, `challenge` or `wrapper2`.
        observation: `bits` or `memory`, see `garrison.cage2.VectorEnv`.
        actions: Blue's, `all` or `compact`.
        scenario: path of a changed copy of `scenario2.toml`.
        render_mode: None; `ansi`: tables as text; `rgb_array`: a picture; `human`: every reset and step prints tables.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cage2_v0",
        "render_modes": [*RENDER_MODES, "human"],
        "render_fps": 4,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        max_cycles: int = DEFAULT_LENGTH,
        rules: str = DEFAULT_RULES,
        encoder: str = DEFAULT_ENCODER,
        observation: str = DEFAULT_OBSERVATION,
        actions: str = DEFAULT_ACTIONS,
        scenario: str | Path | None = None,
        render_mode: str | None = None,
    ) -> None:
        choose("render_mode", render_mode or "ansi", self.metadata["render_modes"])
        self._red = RedPuppet(1)
        self._batch = VectorEnv(
            1,
            red=self._red,
            rules=rules,
            length=max_cycles,
            encoder=encoder,
            observation=observation,
            actions=actions,
            scenario=scenario,
            autoreset_mode=AutoresetMode.DISABLED,
            render_mode=None if render_mode == "human" else render_mode,
        )
        self.render_mode = render_mode
        self.possible_agents = [BLUE, RED]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, Space[Any]] = {
            BLUE: self._batch.single_observation_space,
            RED: Box(0, 1, (NUM_RED_BITS,), np.int8),
        }
        self.action_spaces: dict[str, Space[Any]] = {
            BLUE: self._batch.single_action_space,
            RED: Discrete(NUM_RED_MOVES),
        }

    @property
    def batch(self) -> VectorEnv:
        """The batch of one behind this environment: state, truth, clone and tables are there."""
        return self._batch

    def observation_space(self, agent: str) -> Space[Any]:
        """Return an agent's observation space, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return an agent's action space, the same object every time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin a new episode; there are no options."""
        self._batch.reset(seed=seed)
        self.agents = self.possible_agents[:]
        self._print()
        return self._observations(), self._infos()

    def step(self, actions: dict[str, int]) -> Steps:
        """Play one turn with an action of each agent."""
        if not self.agents:
            raise NotReset("the episode is over: call reset() before the next step().")
        if set(actions) != {BLUE, RED}:
            raise UserError(f"actions must have one for 'blue' and one for 'red'; got {sorted(map(str, actions))}.")
        self._red.tell(np.asarray(actions[RED])[None])
        _, rewards, _, truncations, _ = self._batch.step(np.asarray(actions[BLUE])[None])
        reward, truncated = float(rewards[0]), bool(truncations[0])
        everyone, self.agents = self.agents, [] if truncated else self.agents
        self._print()
        return (
            self._observations(),
            {BLUE: reward, RED: -reward},
            dict.fromkeys(everyone, False),
            dict.fromkeys(everyone, truncated),
            self._infos(),
        )

    def _observations(self) -> dict[str, Observation]:
        return {BLUE: self._batch.observations[0].copy(), RED: self._batch.red_view.observations()[0]}

    def _infos(self) -> dict[str, dict[str, Any]]:
        """Return the masks, as integers: Gymnasium's `Discrete.sample` takes no others."""
        masks = {BLUE: self._batch.action_masks()[0], RED: self._batch.red_view.action_masks()[0]}
        return {agent: {"action_mask": mask.astype(np.int8)} for agent, mask in masks.items()}

    def render(self) -> Any:
        """Return Blue's table and the true table as text, or a picture, as the render mode says."""
        shown = self._batch.render()
        return None if shown is None else shown[0]

    def _print(self) -> None:
        if self.render_mode == "human":
            print(self._batch.tables(), end="\n\n", flush=True)

    def close(self) -> None:
        """Stop what the batch has started."""
        self._batch.close()
