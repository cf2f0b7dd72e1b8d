"""Steps the environments with the policy and writes what happens into a rollout."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.checks import check_form
from garrison.learn.envs import TrainableEnvs
from garrison.learn.nn.network import Network
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import Rollout
from garrison.learn.stopwatch import Stopwatch
from garrison.learn.tensors import to_tensors

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Collector:
    """The environments, what they show now, and the streams that actions are drawn from."""

    on_first_step: Callable[[], None] | None = None
    """Called once, after the first step."""

    def __init__(self, envs: VectorEnv[Any, Any, Any], network: Network, seed: int, masked: bool) -> None:
        self.envs, self.network, self.masked = TrainableEnvs(envs), network, masked
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
            self.masks = self.envs.masks(infos)
        self.starts[:] = True
        self.resetting[:] = False
        self.returns[:] = 0.0
        self.lengths[:] = 0

    def collect(self, rollout: Rollout, watch: Stopwatch) -> tuple[list[float], list[int]]:
        """Fill the rollout; return the returns and lengths of the episodes that ended in it."""
        envs, network = self.envs, self.network
        store, to_env = network.policy.observations.store, network.policy.actions.to_env
        ended_returns: list[float] = []
        ended_lengths: list[int] = []
        rollout.observations[0] = self.seen
        times_before = envs.times()
        for t in range(rollout.steps):
            rollout.starts[t] = self.starts
            rollout.counted[t] = ~self.resetting
            if self.masked:
                rollout.masks[t] = self.masks
            choices = rollout.choices[t]
            network.act(
                rollout.observations[t],
                self.starts,
                self.masks,
                self.streams,
                choices,
                rollout.log_probs[t],
                rollout.values[t],
            )
            actions = to_env(choices)
            watch.mark("act")
            shown, rewards, terminations, truncations, infos = envs.step(actions)
            watch.mark("step")
            if self.on_first_step is not None:
                self.on_first_step()
                self.on_first_step = None

            store(shown, rollout.observations[t + 1])
            rollout.rewards[t] = rewards
            rollout.terminations[t] = terminations
            rollout.truncations[t] = truncations
            if self.masked:
                self.masks = self.envs.masks(infos)
            self.returns += rewards
            self.lengths += rollout.counted[t]
            ended = np.logical_or(terminations, truncations)
            if ended.any():
                rows = np.flatnonzero(ended)
                ended_returns += self.returns[rows].tolist()
                ended_lengths += self.lengths[rows].tolist()
                self.returns[rows] = 0.0
                self.lengths[rows] = 0
                if envs.resets_in_same_step:
                    watch.mark("copy")
                    rows = np.flatnonzero(truncations & ~np.asarray(terminations))
                    rollout.final_values[t, rows] = self._final_values(rows, infos)
                    watch.mark("act")
            if envs.resets_in_same_step:
                self.starts[:] = ended
            else:
                self.starts[:] = self.resetting
                self.resetting[:] = ended
            watch.mark("copy")
        if times_before is not None:
            watch.divide("step", (envs.times() - times_before).parts, rest="copy")
        self.seen[:] = rollout.observations[-1]
        rollout.last_values[:] = network.values(self.seen, self.all)
        if not envs.resets_in_same_step:
            # Here the observation after an ending is the final one, so its value has been computed on the way.
            rollout.final_values[:-1] = rollout.values[1:]
            rollout.final_values[-1] = rollout.last_values
        watch.mark("act")
        return ended_returns, ended_lengths

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

    def _final_values(self, rows: Rows, infos: dict[str, Any]) -> Floats:
        if len(rows) == 0:
            return np.zeros(0, np.float32)
        form = self.network.policy.observations
        stored = form.empty(len(rows))
        form.store(self.envs.final_observations(rows, infos, form), stored)
        return self.network.values(stored, rows)
