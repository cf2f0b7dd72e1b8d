"""What a batch shows to people: tables as text, pictures, and the true state as a dict."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.inputs import environment_ids
from garrison.cage2.layout import Record
from garrison.cage2.picture import draw
from garrison.cage2.truth import blue_table, true_state, true_table

RENDER_MODES = ("ansi", "rgb_array")


class Rendering:
    """The part of a batch that shows its environments, each by its number."""

    num_envs: int
    render_mode: str | None
    _envs: NDArray[np.void]
    _scenario: NDArray[np.void]

    def render(self) -> tuple[Any, ...] | None:
        """Return of every environment its tables as text, or its picture, as the render mode says."""
        if self.render_mode is None:
            return None
        show = self.tables if self.render_mode == "ansi" else self.picture
        return tuple(show(i) for i in range(self.num_envs))

    def picture(self, env_id: int = 0) -> NDArray[np.uint8]:
        """Return a picture of one environment, (height, width, 3)."""
        return draw(*self._shown(env_id))

    def tables(self, env_id: int = 0) -> str:
        """Return Blue's table and the true table of one environment as text."""
        return f"{self.blue_table(env_id)}\n\n{self.true_table(env_id)}"

    def true_table(self, env_id: int = 0) -> str:
        """Return CybORG's true table of one environment as text."""
        return true_table(*self._shown(env_id))

    def blue_table(self, env_id: int = 0) -> str:
        """Return Blue's table of one environment as text."""
        return blue_table(*self._shown(env_id))

    def true_state(self, env_id: int = 0) -> dict[str, Any]:
        """Return one environment's state as a dict shaped like CybORG's `get_agent_state('True')`."""
        return true_state(*self._shown(env_id))

    def _shown(self, env_id: int) -> tuple[Record, Record]:
        return self._envs[environment_ids([env_id], self.num_envs)[0]], self._scenario[0]
