"""One CAGE-2 environment behind Gymnasium's interface: a batch of one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.cage2.infos import EPISODE
from garrison.cage2.names import (
    DEFAULT_ACTIONS,
    DEFAULT_ENCODER,
    DEFAULT_LENGTH,
    DEFAULT_OBSERVATION,
    DEFAULT_RED,
    DEFAULT_RULES,
    DEFAULT_SOURCE,
)
from garrison.cage2.red_agent import RedAgent
from garrison.cage2.rendering import RENDER_MODES
from garrison.cage2.truth import Truth
from garrison.cage2.vector_env import VectorEnv
from garrison.cage2.workflow import Compliance, Workflow
from garrison.errors import UserError, choose


def _mask_info(infos: dict[str, Any]) -> dict[str, Any]:
    """Return one environment's action mask as an entry of its info, where there is one."""
    return {"action_mask": infos["action_mask"][0]} if "action_mask" in infos else {}


class Env(gymnasium.Env[NDArray[np.int8], Any]):
    """CAGE Challenge 2 for Blue: 52 bits in, one of 145 actions out.

    `red`, `rules`, `length`, `encoder`, `scenario`, `observation`, `actions`, `workflow`, `action_mask_infos` and
    `source` are those of `VectorEnv`; the arrays that `reset` and `step` return belong to the caller. An episode is
    truncated at its length and never terminates. `render_mode` is None, `ansi` (tables as text), `rgb_array` (a
    picture), or `human`: then every reset and step prints the tables.

    >>> import gymnasium
    >>> env = gymnasium.make("garrison/CAGE2-v0", red="meander", length=30)
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(132)
    >>> reward
    -1.0
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as in Gymnasium
        **VectorEnv.metadata,
        "render_modes": [*RENDER_MODES, "human"],
    }

    def __init__(
        self,
        red: str | Mapping[Any, float] | RedAgent | type[RedAgent] = DEFAULT_RED,
        rules: str = DEFAULT_RULES,
        length: int = DEFAULT_LENGTH,
        encoder: str = DEFAULT_ENCODER,
        scenario: str | Path | None = None,
        observation: str = DEFAULT_OBSERVATION,
        actions: str = DEFAULT_ACTIONS,
        workflow: Workflow | None = None,
        action_mask_infos: bool = False,
        render_mode: str | None = None,
        source: str = DEFAULT_SOURCE,
    ) -> None:
        choose("render_mode", render_mode or "ansi", self.metadata["render_modes"])
        self._batch = VectorEnv(
            1,
            red=red,
            rules=rules,
            length=length,
            encoder=encoder,
            scenario=scenario,
            observation=observation,
            actions=actions,
            workflow=workflow,
            autoreset_mode=AutoresetMode.DISABLED,
            action_mask_infos=action_mask_infos,
            source=source,
            copy=False,
            render_mode=None if render_mode == "human" else render_mode,
        )
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self.render_mode = render_mode

    @property
    def batch(self) -> VectorEnv:
        """The batch of one behind this environment: state, clone, masks and tables are there."""
        return self._batch

    @property
    def truth(self) -> Truth:
        """The true state as read-only views, each with a first axis of one."""
        return self._batch.truth

    @property
    def workflow(self) -> Compliance | None:
        """How the workflow is followed, each view with a first axis of one; None without a workflow."""
        return self._batch.workflow

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        obs, infos = self._batch.reset(seed=seed)
        self._print()
        return obs[0].copy(), _mask_info(infos)

    def step(self, action: Any) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Play one turn."""
        if isinstance(action, Mapping):
            try:
                batched: Any = {name: np.asarray(value)[None] for name, value in action.items()}
            except (TypeError, ValueError) as error:
                raise UserError(f"an action's parts must be whole numbers; got {action!r}.") from error
        else:
            batched = np.asarray(action)[None]
        obs, rewards, _, truncations, infos = self._batch.step(batched)
        truncated = bool(truncations[0])
        info = _mask_info(infos) if infos else {}
        if self.render_mode is not None:
            self._print()
        if truncated:
            info[EPISODE] = {"r": self.total, "l": int(self.truth.t[0])}
            if "workflow" in infos:
                numbers = infos["workflow"].items()
                info["workflow"] = {name: value[0].item() for name, value in numbers if not name.startswith("_")}
        return obs[0].copy(), float(rewards[0]), False, truncated, info

    @property
    def total(self) -> float:
        """The sum of this episode's rewards so far."""
        total = float(self._batch.get_state()["total"][0])
        return total if self.workflow is None else total + float(self.workflow.alignment_returns[0])

    def action_masks(self) -> NDArray[np.bool_]:
        """Return False for each action that Blue can know to have no effect. The name is sb3-contrib's."""
        masks: NDArray[np.bool_] = self._batch.action_masks()[0]
        return masks

    def render(self) -> Any:
        """Return Blue's table and the true table as text, or a picture, as the render mode says."""
        shown = self._batch.render()
        return None if shown is None else shown[0]

    def _print(self) -> None:
        """Show the new state, if the render mode is `human`."""
        if self.render_mode == "human":
            print(self._batch.tables(), end="\n\n", flush=True)

    def close(self) -> None:
        """Do nothing: a batch of one has no threads to stop."""
