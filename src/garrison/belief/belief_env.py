"""A batch of CAGE-2 that also shows its policy what may be true: behind each observation, the bits of a belief."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from garrison.belief.belief_bits import NUM_BELIEF_BITS
from garrison.belief.filter import Beliefs
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.truth import Truth
from garrison.cage2.vector_env import Step, VectorEnv
from garrison.errors import UserError


class BeliefEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Shows what a batch shows, and behind it what can be concluded from that (`belief_bits`).

    Nothing else enters: not the true state, not who attacks. Episodes under way cannot be saved or copied, so a run
    that is resumed begins new ones.

    Args:
        envs: the batch; it is closed with this one.
        threads: over how many threads the beliefs are split; what is shown does not depend on it.
    """

    def __init__(self, envs: VectorEnv, threads: int = 1) -> None:
        if envs.autoreset_mode == AutoresetMode.DISABLED:
            raise UserError("a batch that shows beliefs resets itself: choose autoreset_mode SAME_STEP or NEXT_STEP.")
        self.envs, self.num_envs, self.metadata = envs, envs.num_envs, envs.metadata
        self._own = envs.observations.shape[1]
        self.single_observation_space = Box(0, 1, (self._own + NUM_BELIEF_BITS,), np.int8)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space, self.action_space = envs.single_action_space, envs.action_space
        self._rewards = np.zeros(self.num_envs)
        self._shown = np.zeros((self.num_envs, self._own + NUM_BELIEF_BITS), np.int8)
        self.final_observations = np.zeros_like(self._shown)
        self._ended = np.zeros(self.num_envs, np.bool_)
        edges = np.linspace(0, self.num_envs, min(threads, self.num_envs) + 1).astype(int).tolist()
        self._sections = [slice(begin, end) for begin, end in pairwise(edges)]
        self._beliefs = [Beliefs(each.stop - each.start, envs.rules, envs.encoder) for each in self._sections]
        self._pool = ThreadPoolExecutor(len(self._sections))

    @property
    def truth(self) -> Truth:
        """The true state, as read-only views that follow the batch."""
        return self.envs.truth

    @property
    def learning_rewards(self) -> NDArray[np.float64]:
        """(n,) what to learn from, of the last step."""
        found: NDArray[np.float64] = getattr(self.envs, "learning_rewards", self._rewards)
        return found

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes everywhere."""
        if options:
            raise UserError("a batch that shows beliefs begins all episodes together: call reset() without options.")
        observations, infos = self.envs.reset(seed=seed)
        self._ended[:] = False
        return self._show(observations, lambda beliefs, _: beliefs.begin()), infos

    def step(self, actions: Any) -> Step:
        """Step every environment, and bring the beliefs up to what it shows."""
        blue = self.envs._read_actions(actions).copy()
        observations, self._rewards, terminations, truncations, infos = self.envs.step(actions)
        ends, before = terminations | truncations, self._ended

        def after_all(beliefs: Beliefs, section: slice) -> None:
            beliefs.update(blue[section], last[section, :NUM_BITS])

        def after_those_that_moved(beliefs: Beliefs, section: slice) -> None:
            beliefs.update(blue[section], observations[section, :NUM_BITS], ~before[section])
            beliefs.begin(before[section])

        if self.envs.autoreset_mode == AutoresetMode.NEXT_STEP:  # who ended in the step before was reset in this one
            self._ended = ends.copy()
            shown = self._show(observations, after_those_that_moved)
        elif not ends.any():
            last = observations
            shown = self._show(observations, after_all)
        else:
            last = np.where(ends[:, None], self.envs.final_observations, observations)
            self.final_observations[:] = self._show(last, after_all)
            infos = infos | {"final_obs": _at(infos["final_obs"], self.final_observations)}
            shown = self._show(observations, lambda beliefs, section: beliefs.begin(ends[section]))
        return shown, self._rewards, terminations, truncations, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return (n, number of actions): False where an action cannot have an effect now, as Blue knows."""
        return self.envs.action_masks()

    def close_extras(self, **kwargs: Any) -> None:
        """Close the batch, and stop the threads."""
        self._pool.shutdown()
        self.envs.close(**kwargs)

    def _show(self, observations: NDArray[np.int8], change: Callable[[Beliefs, slice], None]) -> NDArray[np.int8]:
        """Change the beliefs of each section, and return what is shown with them."""

        def change_and_write(beliefs: Beliefs, section: slice) -> None:
            change(beliefs, section)
            beliefs.write_bits(self._shown[section, self._own :])

        self._shown[:, : self._own] = observations
        list(self._pool.map(change_and_write, self._beliefs, self._sections))
        return self._shown.copy() if self.envs.copy else self._shown


def _at(places: NDArray[Any], rows: NDArray[np.int8]) -> NDArray[Any]:
    """Return an array of objects with a copy of each row where `places` has something."""
    found = np.full(len(places), None, object)
    for k, place in enumerate(places):
        found[k] = None if place is None else rows[k].copy()
    return found
