"""A feed-forward network computed by hand: matrix products through BLAS, everything between them compiled.

Torch's autograd passes over the logits of a sample a dozen times, and every pass goes through memory. Here a minibatch
is split over threads, and each thread works through its part in chunks that stay in its core's cache: forward, one
pass for loss and gradient, backward; all without Python's lock, so the threads run side by side. Tested against
`AutogradNetwork`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.learn.nn import passes
from garrison.learn.nn.arithmetic import MASKED
from garrison.learn.nn.blas import find_sgemm
from garrison.learn.nn.layers import ACTIVATIONS
from garrison.learn.nn.loss import Means, Rows, Samples, Terms
from garrison.learn.nn.passes import Decisions, Net
from garrison.learn.nn.plan import LayerPlan, ThreadWorkspace
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import Streams
from garrison.learn.rollout import Rollout, TrainingBatch
from garrison.learn.spaces.categorical import Categorical

Array = NDArray[Any]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

SMALLEST_SHARE = 128
"""Fewer rows per thread are not worth waking it."""
NO_MASKS = np.empty((0, 0), np.bool_)
NO_STREAMS = np.empty(0, np.uint64)


class CompiledNetwork:
    """Implements `Network` with compiled passes; the number of threads changes results only by rounding."""

    compute = "compiled"

    def __init__(self, policy: Policy, num_envs: int, threads: int) -> None:
        actions = policy.actions
        assert isinstance(actions, Categorical)
        self.policy = policy
        self.threads = threads
        self.recurrent_state = policy.initial_state(num_envs)
        self.gradients = torch.zeros_like(policy.flat)
        self._sgemm = find_sgemm()
        plan = LayerPlan(policy)
        offsets = actions.offsets.copy()
        offsets[-1] = plan.padded_outputs
        self._net = Net(
            plan.actor,
            plan.critic,
            plan.action_head,
            plan.value_head,
            ACTIVATIONS[policy.config.activation],
            policy.flat.numpy(),
            np.full(plan.padded_outputs, MASKED),
            offsets,
        )
        self._policy_bias = policy.action_head.bias.detach().numpy()
        heads = len(actions.sizes)
        self._workspaces = [ThreadWorkspace(policy.observations, plan, len(policy.flat), heads) for _ in range(threads)]
        # A matrix product that started threads of its own would fight ours for the cores (measured: ten times slower).
        # The number is kept for each thread, so each sets it.
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(
            max(1, threads - 1), "network", initializer=torch.set_num_threads, initargs=(1,)
        )

    @staticmethod
    def covers(policy: Policy) -> bool:
        """Return whether such a policy can be compiled."""
        return policy.is_dense and type(policy.actions) is Categorical and policy.flat.device.type == "cpu"

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
        net = self._refreshed()

        def act(workspace: ThreadWorkspace, rows: Rows) -> None:
            here = slice(rows[0], rows[-1] + 1)
            passes.act(
                self._sgemm,
                net,
                workspace.scratch.work,
                workspace.inputs(observations, rows),
                masks[here] if len(masks) else masks,
                streams[here],
                Decisions(choices[here], log_probs[here], values[here]),
            )

        self._spread(act, np.arange(len(observations)))

    def values(self, observations: Array, envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""
        values = np.empty(len(observations), np.float32)
        no_choices, no_log_probs = np.empty((0, 1), np.int32), np.empty(0, np.float32)

        def evaluate(workspace: ThreadWorkspace, rows: Rows) -> None:
            out = Decisions(no_choices, no_log_probs, values[rows[0] : rows[-1] + 1])
            inputs = workspace.inputs(observations, rows)
            passes.act(self._sgemm, self._net, workspace.scratch.work, inputs, NO_MASKS, NO_STREAMS, out)

        self._spread(evaluate, np.arange(len(observations)))
        return values

    def evaluate(self, rollout: Rollout, recurrent_state: torch.Tensor) -> tuple[Floats, Floats]:
        """Return log-probabilities (T, N) of a rollout's choices and values (T + 1, N) under the present weights."""
        net = self._refreshed()
        steps, num_envs = rollout.steps, rollout.num_envs
        size = steps * num_envs
        observations, choices, masks = rollout.flat_observations(), rollout.flat_choices(), rollout.flat_masks()
        log_probs, values = np.empty(size, np.float32), np.empty(size + num_envs, np.float32)

        def evaluate(workspace: ThreadWorkspace, rows: Rows) -> None:
            here = slice(rows[0], rows[-1] + 1)
            passes.evaluate(
                self._sgemm,
                net,
                workspace.scratch.work,
                workspace.inputs(observations, rows),
                masks[here] if len(masks) else masks,
                Decisions(choices[here], log_probs[here], values[here]),
            )

        self._spread(evaluate, np.arange(size))
        values[size:] = self.values(observations[size:], np.arange(num_envs))
        return log_probs.reshape(steps, num_envs), values.reshape(steps + 1, num_envs)

    def gradient(self, batch: TrainingBatch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`."""
        net, share = self._refreshed(), 1.0 / len(rows)
        samples = Samples(batch.choices, batch.masks, batch.log_probs, batch.values, batch.advantages, batch.returns)
        terms = Terms._make(np.float32(x) for x in terms)

        def learn(workspace: ThreadWorkspace, part: Rows) -> None:
            inputs = workspace.inputs(batch.observations, part)
            passes.learn(self._sgemm, net, inputs, part, samples, terms, np.float32(share), workspace.scratch)

        used = [workspace.scratch for workspace in self._workspaces[: self._spread(learn, rows)]]
        np.copyto(self.gradients.numpy(), used[0].gradients)
        sums = used[0].sums.copy()
        for scratch in used[1:]:
            self.gradients += torch.from_numpy(scratch.gradients)
            sums += scratch.sums
        return Means(*(float(x) * share for x in sums))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _refreshed(self) -> Net:
        """Return the policy with its present biases, which the passes read padded."""
        self._net.bias[: len(self._policy_bias)] = self._policy_bias
        return self._net

    def _spread(self, work: Callable[[ThreadWorkspace, Rows], None], rows: Rows) -> int:
        """Let every thread work on its part of the rows; return how many had one."""
        used = min(self.threads, len(rows) // SMALLEST_SHARE)
        if used < 2:
            work(self._workspaces[0], rows)
            return 1
        parts = np.array_split(rows, used)
        others = [
            self._pool.submit(work, workspace, part)
            for workspace, part in zip(self._workspaces[1:], parts[1:], strict=False)
        ]
        work(self._workspaces[0], parts[0])
        for other in others:
            other.result()
        return used
