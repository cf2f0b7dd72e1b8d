"""The network computed by plain torch: any policy, any device, and the reference for the compiled one."""

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.learn.loss import Means, Rows, Terms, ppo_loss
from garrison.learn.nn.policy import Policy, views
from garrison.learn.nn.sampling import Streams, assess, draw
from garrison.learn.rollout import Batch, Rollout

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


class AutogradNetwork:
    """Acts and computes gradients with torch; draws actions with the compiled sampler."""

    def __init__(self, policy: Policy, num_envs: int, threads: int) -> None:
        self.policy = policy
        self.threads = threads
        self.gradients = torch.zeros_like(policy.flat)
        self.state = policy.initial_state(num_envs)
        self._no_bias = np.zeros(policy.actions.size, np.float32)
        for parameter, view in zip(policy.parameters(), views(self.gradients, policy), strict=True):
            parameter.grad = view  # backward adds into the flat vector
        torch.set_num_threads(threads)

    def act(
        self,
        observations: NDArray[np.generic],
        starts: Flags,
        masks: Flags,
        streams: Streams,
        indices: NDArray[np.int32],
        log_probs: Floats,
        values: Floats,
    ) -> None:
        """Draw an action for every environment; writes the last three."""
        with torch.inference_mode():
            logits, computed, state = self._forward(observations, np.arange(len(observations)), self.state, starts)
            if state is not None:
                self.state = state.clone()
        draw(logits.numpy(), self._no_bias, masks, self.policy.actions.offsets, streams, indices, log_probs)
        values[:] = computed.numpy()

    def values(self, observations: NDArray[np.generic], envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""
        with torch.inference_mode():
            rows = np.arange(len(envs))
            _, values, _ = self._forward(observations, rows, self.state[:, envs], np.zeros(len(envs), np.bool_))
            return np.asarray(values.numpy())

    def gradient(self, batch: Batch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`.

        With memory, `rows` is (T, n): whole sequences, one column an environment.
        """
        self.gradients.zero_()
        inputs = self._inputs(batch.observations, rows.reshape(-1))
        if rows.ndim == 2:
            starts = torch.from_numpy(batch.starts.reshape(-1)[rows]).to(inputs.device)
            state = batch.initial_state[:, rows[0]].to(inputs.device)
            logits, values, _ = self.policy(inputs.view(*rows.shape, -1), state, starts)
            keep = batch.counted.reshape(-1)[rows.reshape(-1)]
            logits, values, rows = logits.flatten(0, 1)[keep], values.flatten()[keep], rows.reshape(-1)[keep]
        else:
            logits, values, _ = self.policy(inputs)
        loss, means = ppo_loss(logits, values, batch, rows, self.policy.actions.sizes, terms)
        loss.backward()  # type: ignore[no-untyped-call]
        return means

    def evaluate(self, rollout: Rollout, memory: torch.Tensor) -> tuple[Floats, Floats]:
        """Return log-probabilities (T, N) of a rollout's choices and values (T + 1, N) under the present weights."""
        steps, num_envs = rollout.steps, rollout.num_envs
        size = steps * num_envs
        observations = rollout.observations.reshape(size + num_envs, -1)
        with torch.inference_mode():
            inputs = self._inputs(observations, np.arange(size + num_envs))
            if self.policy.is_recurrent:
                # Whether the last observation starts an episode is unknown, and its value is read only if it does not.
                starts = torch.from_numpy(np.vstack((rollout.starts, np.zeros((1, num_envs), np.bool_))))
                sequence = inputs.view(steps + 1, num_envs, -1)
                logits, values, _ = self.policy(sequence, memory.to(inputs.device), starts.to(inputs.device))
                logits, values = logits.flatten(0, 1), values.flatten()
            else:
                logits, values, _ = self.policy(inputs)
        log_probs = np.empty(size, np.float32)
        masks = rollout.masks.reshape(size if len(rollout.masks) else 0, rollout.masks.shape[-1])
        indices, offsets = rollout.indices.reshape(size, -1), self.policy.actions.offsets
        assess(logits[:size].cpu().numpy(), self._no_bias, masks, offsets, indices, log_probs)
        return log_probs.reshape(steps, num_envs), values.cpu().numpy().reshape(steps + 1, num_envs)

    def close(self) -> None:
        """Nothing is held."""

    def _forward(
        self, observations: NDArray[np.generic], rows: Rows, state: torch.Tensor, starts: Flags
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        inputs = self._inputs(observations, rows)
        if not self.policy.is_recurrent:
            logits, values, _ = self.policy(inputs)
            return logits.cpu(), values.cpu(), None
        begins = torch.from_numpy(starts).to(inputs.device).unsqueeze(0)
        logits, values, next_state = self.policy(inputs.unsqueeze(0), state, begins)
        return logits[0].cpu(), values[0].cpu(), next_state

    def _inputs(self, observations: NDArray[np.generic], rows: Rows) -> torch.Tensor:
        inputs = np.empty((len(rows), self.policy.observations.size), np.float32)
        self.policy.observations.inputs(observations, rows, inputs)
        return torch.from_numpy(inputs).to(self.policy.flat.device)
