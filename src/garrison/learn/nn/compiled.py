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

from garrison.jit import plain
from garrison.learn.nn import passes
from garrison.learn.nn.adam import Adam
from garrison.learn.nn.blas import find_sgemm
from garrison.learn.nn.epoch import SMALLEST_SHARE, SQUARES, Course, Step, Stride, learn_epoch, one_by_one
from garrison.learn.nn.groups import Groups, singles
from garrison.learn.nn.layers import ACTIVATIONS
from garrison.learn.nn.loss import Means, Rows, Terms, samples_of
from garrison.learn.nn.meeting import leave, make_meeting, open_meeting
from garrison.learn.nn.passes import Decisions, Net
from garrison.learn.nn.plan import NO_INPUTS, LayerPlan, Seen, ThreadWorkspace, make_gradients
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import Streams
from garrison.learn.rollout import Rollout, TrainingBatch
from garrison.learn.spaces.categorical import Categorical
from garrison.learn.spaces.observations import BitsForm

Array = NDArray[Any]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

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
        self.sgemm = find_sgemm()
        plan = LayerPlan(policy)
        offsets = actions.offsets.copy()
        offsets[-1] = plan.padded_outputs
        self.net = Net(
            policy.observations.size,
            plan.actor,
            plan.critic,
            plan.action_head,
            plan.value_head,
            ACTIVATIONS[policy.config.activation],
            policy.flat.numpy(),
            offsets,
        )
        heads = len(actions.sizes)
        self._parts = make_gradients(threads, len(policy.flat))
        gradients = self._parts[:, : len(policy.flat)]
        self._workspaces = [ThreadWorkspace(policy.observations, plan, part, heads) for part in gradients]
        self._meeting = make_meeting(threads)
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

        def act(workspace: ThreadWorkspace, rows: Rows) -> None:
            here = slice(rows[0], rows[-1] + 1)
            passes.act(
                self.sgemm,
                self.net,
                workspace.see(observations, rows),
                rows,
                masks[here] if len(masks) else masks,
                streams[here],
                Decisions(choices[here], log_probs[here], values[here]),
                workspace.scratch,
            )

        self.spread(act, np.arange(len(observations)))

    def values(self, observations: Array, envs: Rows) -> Floats:
        """Return the critic's values of what the environments `envs` see after their last action."""
        values = np.empty(len(observations), np.float32)
        no_choices, no_log_probs = np.empty((0, 1), np.int32), np.empty(0, np.float32)

        def evaluate(workspace: ThreadWorkspace, rows: Rows) -> None:
            out = Decisions(no_choices, no_log_probs, values[rows[0] : rows[-1] + 1])
            seen = workspace.see(observations, rows)
            passes.act(self.sgemm, self.net, seen, rows, NO_MASKS, NO_STREAMS, out, workspace.scratch)

        self.spread(evaluate, np.arange(len(observations)))
        return values

    def evaluate(self, rollout: Rollout, recurrent_state: torch.Tensor) -> tuple[Floats, Floats]:
        """Return log-probabilities (T, N) of a rollout's choices and values (T + 1, N) under the present weights."""
        steps, num_envs = rollout.steps, rollout.num_envs
        size = steps * num_envs
        observations, choices, masks = rollout.flat_observations(), rollout.flat_choices(), rollout.flat_masks()
        log_probs, values = np.empty(size, np.float32), np.empty(size + num_envs, np.float32)

        def evaluate(workspace: ThreadWorkspace, rows: Rows) -> None:
            here = slice(rows[0], rows[-1] + 1)
            passes.evaluate(
                self.sgemm,
                self.net,
                workspace.see(observations, rows),
                rows,
                masks[here] if len(masks) else masks,
                Decisions(choices[here], log_probs[here], values[here]),
                workspace.scratch,
            )

        self.spread(evaluate, np.arange(size))
        values[size:] = self.values(observations[size:], np.arange(num_envs))
        return log_probs.reshape(steps, num_envs), values.reshape(steps + 1, num_envs)

    def gradient(self, batch: TrainingBatch, rows: Rows, terms: Terms) -> Means:
        """Write the loss's gradient over the samples `rows` into `gradients`."""
        share = 1.0 / len(rows)
        samples, terms = samples_of(batch), Terms._make(np.float32(x) for x in terms)

        def learn(workspace: ThreadWorkspace, part: Rows) -> None:
            seen, groups = workspace.see(batch.observations, part), plain(singles)(part)
            passes.learn(self.sgemm, self.net, seen, groups, samples, terms, np.float32(share), workspace.scratch)

        used = [workspace.scratch for workspace in self._workspaces[: self.spread(learn, rows)]]
        np.copyto(self.gradients.numpy(), used[0].gradients)
        sums = used[0].sums.copy()
        for scratch in used[1:]:
            self.gradients += torch.from_numpy(scratch.gradients)
            sums += scratch.sums
        return Means(*(float(x) * share for x in sums))

    def learn(
        self, batch: TrainingBatch, minibatches: list[Rows], terms: Terms, adam: Adam, stride: Stride
    ) -> list[Step]:
        """Learn from each minibatch in turn, until something is not finite."""
        if type(self.policy.observations) is not BitsForm:
            return one_by_one(self, batch, minibatches, terms, adam, stride)
        rates = [adam.rate_and_root(stride.learning_rate, 1 + number) for number in range(len(minibatches))]
        order = np.concatenate(minibatches)
        course = Course(
            order=order,
            borders=np.cumsum([0, *map(len, minibatches)]),
            numbers=batch.group_numbers,
            groups=Groups(*(np.empty(len(order) + more, np.int64) for more in (0, 0, len(minibatches)))),
            counts=np.empty(len(minibatches), np.int64),
            samples=samples_of(batch),
            terms=Terms._make(np.float32(x) for x in terms),
            normalisers=np.full((len(minibatches), 2), terms[-2:], np.float32),
            normalises=stride.normalises,
            max_norm=float(stride.max_norm),
            rates=np.array(rates, np.float32),
            betas=np.array((adam.beta1, adam.beta2, adam.epsilon), np.float32),
            first=adam.first.numpy(),
            second=adam.second.numpy(),
            gradient=self.gradients.numpy(),
            parts=self._parts,
            sums=np.zeros((self.threads, 16)),
            results=np.zeros((len(minibatches), SQUARES + 1)),
        )
        seen = Seen(batch.observations, NO_INPUTS)

        def learn(me: int) -> None:
            try:
                learn_epoch(self.sgemm, self.net, seen, course, self._workspaces[me].scratch, self._meeting, me)
            except BaseException:  # whoever ends as it should has met the others as often as they have
                leave(self._meeting, me)
                raise

        open_meeting(self._meeting)
        others = []
        try:
            others = [self._pool.submit(learn, me) for me in range(1, self.threads)]
            learn(0)
        except BaseException:
            leave(self._meeting, 0)  # also if it never came
            raise
        for other in others:
            other.result()
        (bad,) = np.nonzero(~np.isfinite(course.results.sum(axis=1)))
        taken = int(bad[0]) if len(bad) else len(minibatches)
        adam.steps += taken
        return [Step(Means(*result[:SQUARES]), result[SQUARES]) for result in course.results[: taken + 1].tolist()]

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def spread(self, work: Callable[[ThreadWorkspace, Rows], None], rows: Rows, smallest: int = SMALLEST_SHARE) -> int:
        """Let every thread work on its part of the rows, at least `smallest`; return how many had one."""
        used = min(self.threads, len(rows) // smallest)
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
