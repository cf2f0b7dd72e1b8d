"""Steps the environments with the policy and writes what happens into a rollout."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.checks import check_form
from garrison.learn.envs import EVERYONE, TrainableEnvs, Who
from garrison.learn.nn.network import Network
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import Rollout
from garrison.learn.stopwatch import Stopwatch
from garrison.learn.tensors import to_tensors

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
At = int | tuple[Rows, Rows]
"""Places of a rollout: a row, or pairs of time and environment."""


class EndedEpisodes(NamedTuple):
    """Of the episodes that end in a rollout: (T, N), set where one ends."""

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]


class Collector:
    """The environments, what they show now, and the streams that actions are drawn from.

    It steps all environments together; `ReadyFirstCollector` does not wait for the slowest.
    """

    on_first_step: Callable[[], None] | None = None
    """Called once, after the first step."""

    def __init__(self, envs: VectorEnv[Any, Any, Any], network: Network, seed: int, masked: bool) -> None:
        self.envs, self.network, self.masked = TrainableEnvs(envs, network.policy.config.critic_extras), network, masked
        actions = network.policy.actions
        if masked and not actions.mask_size:
            raise UserError(f"action_masks is set, but actions of {actions.space} cannot be masked.")
        self.all = np.arange(envs.num_envs)
        self.streams = make_streams(seed, envs.num_envs)
        self.starts = np.ones(envs.num_envs, np.bool_)
        self.resetting = np.zeros(envs.num_envs, np.bool_)  # whose next step only resets (autoreset NEXT_STEP)
        self.returns = np.zeros(envs.num_envs)
        self.lengths = np.zeros(envs.num_envs, np.int64)
        form = network.policy.observations
        self.seen = np.zeros((envs.num_envs, *form.shape), form.dtype)
        self.masks = np.ones((0, 0), np.bool_)

    def reset(self, seed: int) -> None:
        """Begin new episodes everywhere."""
        shown, infos = self.envs.reset(seed=seed)
        self.network.policy.observations.store(shown, self.seen)
        if self.masked:
            self.masks = np.array(self.envs.masks(infos))
        self.starts[:] = True
        self.resetting[:] = False
        self.returns[:] = 0.0
        self.lengths[:] = 0

    def collect(self, rollout: Rollout, watch: Stopwatch) -> tuple[list[float], list[int]]:
        """Fill the rollout; return the returns and lengths of the episodes that ended in it, in the order of rows."""
        envs, network = self.envs, self.network
        shape = rollout.rewards.shape
        episodes = EndedEpisodes(np.empty(shape), np.empty(shape, np.int64))
        rollout.observations[0] = self.seen
        times_before = envs.times()
        self._fill(rollout, episodes, watch)
        if times_before is not None:
            watch.divide("step", (envs.times() - times_before).parts, rest="copy")
        self.seen[:] = rollout.observations[-1]
        rollout.last_values[:] = network.values(self.seen, self.all)
        if not envs.resets_in_same_step:
            # Here the observation after an ending is the final one, so its value has been computed on the way.
            rollout.final_values[:-1] = rollout.values[1:]
            rollout.final_values[-1] = rollout.last_values
        watch.mark("act")
        ended = np.logical_or(rollout.terminations, rollout.truncations)
        return episodes.returns[ended].tolist(), episodes.lengths[ended].tolist()

    def _fill(self, rollout: Rollout, episodes: EndedEpisodes, watch: Stopwatch) -> None:
        """Step all environments together, `rollout.steps` times."""
        envs, network = self.envs, self.network
        store, to_env = network.policy.observations.store, network.policy.actions.to_env
        for t in range(rollout.steps):
            self._note_view(rollout, t, EVERYONE)
            choices, log_probs, values = rollout.choices[t], rollout.log_probs[t], rollout.values[t]
            network.act(rollout.observations[t], self.starts, self.masks, self.streams, choices, log_probs, values)
            actions = to_env(choices)
            watch.mark("act")
            shown, *results = envs.step(actions)
            watch.mark("step")
            self._tell_first_step()
            store(shown, rollout.observations[t + 1])
            self._note_results(rollout, episodes, t, EVERYONE, results, watch)
            watch.mark("copy")

    def _note_view(self, rollout: Rollout, at: At, who: Who) -> None:
        """Write what the environments `who` are given beside their observation, before they act, to the places `at`."""
        rollout.starts[at] = self.starts[who]
        rollout.counted[at] = ~self.resetting[who]
        if self.masked:
            rollout.masks[at] = self.masks[who]

    def _note_results(
        self,
        rollout: Rollout,
        episodes: EndedEpisodes,
        at: At,
        who: Who,
        results: Sequence[Any],
        watch: Stopwatch,
    ) -> None:
        """Write what a step of the environments `who` brought to the places `at`, and keep the account of episodes.

        The results are rewards, terminations, truncations and infos; the next observations are written already.
        """
        rewards, terminations, truncations, infos = results
        rollout.rewards[at] = self.envs.learning_rewards(rewards, who)
        rollout.terminations[at] = terminations
        rollout.truncations[at] = truncations
        if self.masked:
            self.masks[who] = self.envs.masks(infos, who)
        self.returns[who] += rewards
        self.lengths[who] += rollout.counted[at]
        ended = np.logical_or(terminations, truncations)
        if ended.any():
            episodes.returns[at] = self.returns[who]
            episodes.lengths[at] = self.lengths[who]
            gone = self.all[who][ended]
            self.returns[gone] = 0.0
            self.lengths[gone] = 0
            if self.envs.resets_in_same_step:
                watch.mark("copy")
                rows = np.flatnonzero(truncations & ~np.asarray(terminations))
                # An episode that was lost with its worker has no last observation: the one before it stands in.
                final = np.array(rollout.values[at])
                rows = self.envs.known_ends(rows, infos)
                final[rows] = self._final_values(rows, self.all[who][rows], infos)
                rollout.final_values[at] = final
                watch.mark("act")
        if self.envs.resets_in_same_step:
            self.starts[who] = ended
        else:
            self.starts[who] = self.resetting[who]
            self.resetting[who] = ended

    def _tell_first_step(self) -> None:
        if self.on_first_step is not None:
            self.on_first_step()
            self.on_first_step = None

    def state(self) -> dict[str, Any]:
        """Return copies of everything that the next collection depends on; `envs` is None if they cannot tell."""
        return {
            "envs": self.envs.state(),
            "seen": to_tensors(self.seen),
            "masks": to_tensors(self.masks),
            "starts": to_tensors(self.starts),
            "resetting": to_tensors(self.resetting),
            "returns": to_tensors(self.returns),
            "lengths": to_tensors(self.lengths),
            "streams": to_tensors(self.streams.view(np.int64)),
            "memory": self.network.recurrent_state.clone().cpu(),
        }

    def restore(self, state: dict[str, Any], seed: int) -> bool:
        """Continue from what `state` returned; return whether exactly so; else new episodes begin."""
        check_form(state["streams"], to_tensors(self.streams.view(np.int64)), "streams of random numbers")
        self.streams[:] = state["streams"].numpy().view(np.uint64)
        self.reset(seed)
        if not self.envs.restore(state["envs"]):
            return False
        for name in ("seen", "masks", "starts", "resetting", "returns", "lengths"):
            check_form(state[name], to_tensors(getattr(self, name)), f"episodes ({name})")
            getattr(self, name)[:] = state[name].numpy()
        check_form(state["memory"], self.network.recurrent_state.cpu(), "memories of the policy")
        self.network.recurrent_state = state["memory"].to(self.network.recurrent_state.device).clone()
        return True

    def _final_values(self, rows: Rows, ids: Rows, infos: dict[str, Any]) -> Floats:
        """Return the values of the last observations of the environments `ids`, which are `rows` of the last call."""
        if len(rows) == 0:
            return np.zeros(0, np.float32)
        form = self.network.policy.observations
        stored = form.empty(len(rows))
        form.store(self.envs.final_observations(rows, infos, form), stored)
        return self.network.values(stored, ids)
