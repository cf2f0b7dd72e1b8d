"""Steps the environments with the policy and writes what happens into a rollout."""

from typing import Any, Protocol

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.loss import Means, Rows, Terms
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import Streams, make_streams
from garrison.learn.rollout import Batch, Rollout
from garrison.learn.stopwatch import Stopwatch

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


class Network(Protocol):
    """A way to compute a policy: `AutogradNetwork` or `CompiledNetwork`."""

    policy: Policy
    threads: int
    gradients: torch.Tensor
    state: torch.Tensor

    def act(
        self,
        observations: NDArray[Any],
        starts: Flags,
        masks: Flags,
        streams: Streams,
        indices: NDArray[np.int32],
        log_probs: Floats,
        values: Floats,
    ) -> None:
        """Draw an action for every environment; writes the last three."""

    def values(self, observations: NDArray[Any], envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""

    def gradient(self, batch: Batch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`."""

    def evaluate(self, rollout: Rollout, memory: torch.Tensor) -> tuple[Floats, Floats]:
        """Return what the present weights say of a rollout: (T, N) log-probabilities of its choices, (T + 1, N) values.

        `memory` is the policy's before the first step.
        """

    def close(self) -> None:
        """Release what is held."""


class Collector:
    """The environments, what they show now, and the streams that actions are drawn from."""

    def __init__(self, envs: VectorEnv[Any, Any, Any], network: Network, seed: int, masked: bool) -> None:
        mode = envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        if mode == AutoresetMode.DISABLED:
            raise UserError("the environments must reset themselves: choose autoreset_mode SAME_STEP or NEXT_STEP.")
        self.envs, self.network, self.masked = envs, network, masked
        self.same_step = mode == AutoresetMode.SAME_STEP
        self.all = np.arange(envs.num_envs)
        self.streams = make_streams(seed, envs.num_envs)
        self.starts = np.ones(envs.num_envs, np.bool_)
        self.resetting = np.zeros(envs.num_envs, np.bool_)  # whose next step only resets (autoreset NEXT_STEP)
        self.returns = np.zeros(envs.num_envs)
        self.lengths = np.zeros(envs.num_envs, np.int64)
        observations = network.policy.observations
        self.seen = np.zeros((envs.num_envs, *observations.shape), observations.dtype)
        self.masks = np.ones((0, 0), np.bool_)

    def reset(self, seed: int) -> None:
        """Begin new episodes everywhere."""
        shown, infos = self.envs.reset(seed=seed)
        self.network.policy.observations.store(np.asarray(shown), self.seen)
        self._read_masks(infos)
        self.starts[:] = True
        self.resetting[:] = False
        self.returns[:] = 0.0
        self.lengths[:] = 0

    def collect(self, rollout: Rollout, watch: Stopwatch) -> tuple[list[float], list[int]]:
        """Fill the rollout; return the returns and lengths of the episodes that ended in it."""
        envs, network = self.envs, self.network
        store, actions_of = network.policy.observations.store, network.policy.actions.of_indices
        ended_returns: list[float] = []
        ended_lengths: list[int] = []
        rollout.observations[0] = self.seen
        times_before = getattr(envs, "times", None)
        for t in range(rollout.steps):
            rollout.starts[t] = self.starts
            rollout.counted[t] = ~self.resetting
            if self.masked:
                rollout.masks[t] = self.masks
            indices = rollout.indices[t]
            network.act(
                rollout.observations[t],
                self.starts,
                self.masks,
                self.streams,
                indices,
                rollout.log_probs[t],
                rollout.values[t],
            )
            actions = actions_of(indices)
            watch.mark("act")
            shown, rewards, terminations, truncations, infos = envs.step(actions)
            watch.mark("step")

            store(np.asarray(shown), rollout.observations[t + 1])
            rollout.rewards[t] = rewards
            rollout.terminations[t] = terminations
            rollout.truncations[t] = truncations
            self._read_masks(infos)
            self.returns += rewards
            self.lengths += rollout.counted[t]
            ended = np.logical_or(terminations, truncations)
            if ended.any():
                rows = np.flatnonzero(ended)
                ended_returns += self.returns[rows].tolist()
                ended_lengths += self.lengths[rows].tolist()
                self.returns[rows] = 0.0
                self.lengths[rows] = 0
                if self.same_step:
                    watch.mark("copy")
                    rows = np.flatnonzero(truncations & ~np.asarray(terminations))
                    rollout.final_values[t, rows] = self._final_values(rows, infos)
                    watch.mark("act")
            if self.same_step:
                self.starts[:] = ended
            else:
                self.starts[:] = self.resetting
                self.resetting[:] = ended
            watch.mark("copy")
        if times_before is not None:
            watch.divide("step", (envs.times - times_before).parts, rest="copy")  # type: ignore[attr-defined]
        self.seen[:] = rollout.observations[-1]
        rollout.last_values[:] = network.values(self.seen, self.all)
        if not self.same_step:
            # Here the observation after an ending is the final one, so its value has been computed on the way.
            rollout.final_values[:-1] = rollout.values[1:]
            rollout.final_values[-1] = rollout.last_values
        watch.mark("act")
        return ended_returns, ended_lengths

    def state(self) -> dict[str, Any]:
        """Return copies of everything that the next collection depends on; `envs` is None if they cannot tell."""
        get_state = getattr(self.envs, "get_state", None)
        return {
            "envs": plain(get_state()) if get_state else None,
            "seen": plain(self.seen),
            "masks": plain(self.masks),
            "starts": plain(self.starts),
            "resetting": plain(self.resetting),
            "returns": plain(self.returns),
            "lengths": plain(self.lengths),
            "streams": plain(self.streams.view(np.int64)),
            "memory": self.network.state.clone().cpu(),
        }

    def restore(self, state: dict[str, Any], seed: int) -> bool:
        """Continue from what `state` returned; say whether exactly so, or with new episodes seeded by `seed`."""
        self.streams[:] = state["streams"].numpy().view(np.uint64)
        set_state = getattr(self.envs, "set_state", None)
        if state["envs"] is None or set_state is None:
            self.reset(seed)
            return False
        self.envs.reset(seed=seed)
        set_state(_like(self.envs.get_state(), state["envs"]))  # type: ignore[attr-defined]
        self.masks = state["masks"].numpy().copy()
        for name in ("seen", "starts", "resetting", "returns", "lengths"):
            getattr(self, name)[:] = state[name].numpy()
        self.network.state = state["memory"].to(self.network.state.device).clone()
        return True

    def _final_values(self, rows: Rows, infos: dict[str, Any]) -> Floats:
        if len(rows) == 0:
            return np.zeros(0, np.float32)
        final = getattr(self.envs, "final_observations", None)
        shown = np.stack(list(infos["final_obs"][rows])) if final is None else final[rows]
        observations = self.network.policy.observations
        stored = np.empty((len(rows), *observations.shape), observations.dtype)
        observations.store(shown, stored)
        return self.network.values(stored, rows)

    def _read_masks(self, infos: dict[str, Any]) -> None:
        if not self.masked:
            return
        ask = getattr(self.envs, "action_masks", None)
        masks = ask() if ask else infos.get("action_mask")
        if masks is None:
            raise UserError(
                "action_masks is set, but the environments have neither an action_masks() method nor an "
                "'action_mask' entry in their infos."
            )
        self.masks = np.array(masks, np.bool_).reshape(self.envs.num_envs, -1)


def plain(value: Any) -> Any:
    """Copy arrays, also nested ones, into tensors, so that a checkpoint loads without running code from it."""
    if isinstance(value, np.ndarray):
        # A structured array has no tensor type: its bytes do.
        return torch.from_numpy(np.array(value if value.dtype.fields is None else value.view(np.uint8)))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _like(example: Any, value: Any) -> Any:
    """Undo `plain`: give `value` the types that `example` has."""
    if isinstance(example, np.ndarray):
        array = value.numpy().copy()
        return array if example.dtype.fields is None else array.view(example.dtype)
    if isinstance(example, dict):
        return {key: _like(example[key], item) for key, item in value.items()}
    if isinstance(example, list | tuple):
        return type(example)(_like(e, item) for e, item in zip(example, value, strict=True))
    return value
