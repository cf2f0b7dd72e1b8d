"""The network computed by plain torch: any policy, any device, and the reference for the compiled one."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.learn.nn.adam import Adam
from garrison.learn.nn.epoch import Step, Stride, one_by_one
from garrison.learn.nn.loss import Means, Rows, Terms, ppo_loss
from garrison.learn.nn.policy import Policy, views
from garrison.learn.nn.sampling import Streams
from garrison.learn.rollout import Rollout, TrainingBatch
from garrison.learn.spaces.observations import Inputs

Array = NDArray[Any]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


class AutogradNetwork:
    """Implements `Network` with torch's autograd."""

    compute = "autograd"

    def __init__(self, policy: Policy, num_envs: int, threads: int) -> None:
        self.policy = policy
        self.threads = threads
        self.gradients = torch.zeros_like(policy.flat)
        self.recurrent_state = policy.initial_state(num_envs)
        for parameter, view in zip(policy.parameters(), views(self.gradients, policy), strict=True):
            parameter.grad = view  # backward adds into the flat vector
        torch.set_num_threads(threads)

    def act(
        self,
        observations: Array,
        starts: Flags,
        masks: Flags,
        streams: Streams,
        choices: Array,
        log_probs: Floats,
        values: Floats,
        envs: Rows | None = None,
    ) -> None:
        """Draw an action for every environment, or for those in `envs`; writes choices, log_probs and values."""
        if envs is not None:  # the others step meanwhile and need the cores: with two threads it was a tenth slower
            torch.set_num_threads(1)
        with torch.inference_mode():
            before = self.recurrent_state if envs is None else self.recurrent_state[:, envs]
            outputs, computed, state = self._forward(observations, before, starts)
            if state is not None and envs is None:
                self.recurrent_state = state.clone()
            elif state is not None:
                self.recurrent_state[:, envs] = state
        if envs is not None:
            torch.set_num_threads(self.threads)
        self.policy.actions.draw(outputs.numpy(), masks, streams, choices, log_probs)
        values[:] = computed.numpy()

    def values(self, observations: Array, envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""
        with torch.inference_mode():
            state = self.recurrent_state[:, envs]
            _, values, _ = self._forward(observations, state, np.zeros(len(envs), np.bool_))
            return np.asarray(values.numpy())

    def gradient(self, batch: TrainingBatch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`."""
        self.gradients.zero_()
        inputs = self._inputs(batch.observations, rows.reshape(-1))
        if rows.ndim == 2:
            starts = torch.from_numpy(batch.starts.reshape(-1)[rows]).to(self._device)
            state = batch.recurrent_state[:, rows[0]].to(self._device)
            outputs, values, _ = self.policy(inputs, state, starts)
            keep = batch.counted.reshape(-1)[rows.reshape(-1)]
            outputs, values, rows = outputs[keep], values[keep], rows.reshape(-1)[keep]
        else:
            outputs, values, _ = self.policy(inputs)
        loss, means = ppo_loss(self.policy.actions, outputs, values, batch, rows, terms)
        loss.backward()  # type: ignore[no-untyped-call]
        return means

    def learn(
        self, batch: TrainingBatch, minibatches: list[Rows], terms: Terms, adam: Adam, stride: Stride
    ) -> list[Step]:
        """Learn from each minibatch in turn, until something is not finite."""
        return one_by_one(self, batch, minibatches, terms, adam, stride)

    def evaluate(self, rollout: Rollout, recurrent_state: torch.Tensor) -> tuple[Floats, Floats]:
        """Return log-probabilities (T, N) of a rollout's choices and values (T + 1, N) under the present weights."""
        steps, num_envs = rollout.steps, rollout.num_envs
        size = steps * num_envs
        with torch.inference_mode():
            inputs = self._inputs(rollout.flat_observations(), np.arange(size + num_envs))
            if self.policy.is_recurrent:
                # Whether the last observation starts an episode is unknown, and its value is read only if it does not.
                starts = torch.from_numpy(np.vstack((rollout.starts, np.zeros((1, num_envs), np.bool_))))
                outputs, values, _ = self.policy(inputs, recurrent_state.to(self._device), starts.to(self._device))
            else:
                outputs, values, _ = self.policy(inputs)
        log_probs = np.empty(size, np.float32)
        self.policy.actions.assess(
            outputs[:size].cpu().numpy(), rollout.flat_masks(), rollout.flat_choices(), log_probs
        )
        return log_probs.reshape(steps, num_envs), values.cpu().numpy().reshape(steps + 1, num_envs)

    def close(self) -> None:
        """Nothing is held."""

    def _forward(
        self, observations: Array, state: torch.Tensor, starts: Flags
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        inputs = self._inputs(observations, np.arange(len(observations)))
        if not self.policy.is_recurrent:
            outputs, values, _ = self.policy(inputs)
            return outputs.cpu(), values.cpu(), None
        begins = torch.from_numpy(starts).to(self._device).unsqueeze(0)
        outputs, values, next_state = self.policy(inputs, state, begins)
        return outputs.cpu(), values.cpu(), next_state

    def _inputs(self, observations: Array, rows: Rows) -> Inputs:
        return self.policy.observations.tensors(observations, rows, self._device)

    @property
    def _device(self) -> torch.device:
        return self.policy.flat.device
